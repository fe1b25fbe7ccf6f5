import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../scripts/testing/temporary-folder.ts";
import { ConfigError } from "./config.ts";
import { keepKeys, keepMasterKey } from "./keep-secret.ts";

const folder = temporaryFolder("keep-secret");
let number = 0;
const newFolder = async () => {
  const path = join(folder, String(number++));
  await mkdir(path, { recursive: true });
  return path;
};

test("[F4] a key that was made once is read again", async () => {
  const path = await newFolder();
  const [master, keys] = [await keepMasterKey(path), await keepKeys(join(path, "keys.json"))];
  expect(await keepMasterKey(path)).toBe(master);
  expect(await keepKeys(join(path, "keys.json"))).toEqual(keys);
});

test.each(["", "null", "AAAA", '{"live":"sk_live_1"}', "\0".repeat(44)])(
  "[F4] [F6] a key file with %j is refused with a sentence, and stays as it is",
  async (content) => {
    const path = await newFolder();
    for (const name of ["master-key", "keys.json"]) await writeFile(join(path, name), content);
    await expect(keepMasterKey(path)).rejects.toThrow(ConfigError);
    await expect(keepKeys(join(path, "keys.json"))).rejects.toThrow("keys.json is damaged");
    expect(await readFile(join(path, "master-key"), "utf8")).toBe(content);
  },
);

test("[F4] a folder in a key file's place is refused with a sentence", async () => {
  const path = await newFolder();
  await mkdir(join(path, "master-key"));
  await expect(keepMasterKey(path)).rejects.toThrow(/master-key cannot be read/);
});
