import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../scripts/testing/temporary-folder.ts";
import { openStoreFile } from "./store-file.ts";

const HOLDER = fileURLToPath(new URL("./testing/hold-file.ts", import.meta.url));

test("[D21] a second client of a file is refused at once", async () => {
  const folder = temporaryFolder("store", onTestFinished);
  const path = join(folder, "agent.db");
  const child = spawn(process.execPath, ["--conditions=holdfast-source", "--import", "tsx", HOLDER, path], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  await once(child, "message");
  const begin = performance.now();
  expect(() => openStoreFile(path, "s")).toThrow(/in use/);
  expect(performance.now() - begin).toBeLessThan(2_000);
});
