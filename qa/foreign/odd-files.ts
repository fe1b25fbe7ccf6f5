import { mkdir, mkdtemp, open, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type Ended, holdfast } from "../support/holdfast-command.ts";
import type { SeededRandom } from "../support/seeded-random.ts";

const MIB = 2 ** 20;

export interface FileReport {
  readonly tried: number;
  readonly violations: readonly string[];
}

type Content = (chance: SeededRandom, sound: Buffer) => Buffer | "huge" | "folder" | undefined;

/** Files as no one should have them; some are sound ones that were damaged. */
const CONTENTS: Readonly<Record<string, Content>> = {
  missing: () => undefined,
  folder: () => "folder",
  empty: () => Buffer.alloc(0),
  nulls: () => Buffer.from("null"),
  list: () => Buffer.from("[]"),
  text: () => Buffer.from('"models"'),
  number: () => Buffer.from("1e400"),
  otherObject: () =>
    Buffer.from('{"models":null,"object":"holdfast_dump","version":2,"organization":null,"keys":[null]}'),
  wrongParts: () =>
    Buffer.from(
      '{"models":{"a":null,"__proto__":{"fields":1}},"object":"holdfast_dump","version":2,"organization":{"id":1,"name":{}},"keys":[null]}\n{"tenant":"live","head":null}\n{"what":"entries"}\n',
    ),
  deep: () => Buffer.from(`{"models":${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}}`),
  deepOpen: () => Buffer.from('{"models":'.repeat(1_000_000)),
  wide: () =>
    Buffer.from(`{"models":{${Array.from({ length: 200_000 }, (_, n) => `"m${n}":{"fields":{}}`).join(",")}}}`),
  longLine: () => Buffer.from(`{"models":"${"x".repeat(64 * MIB)}"}`),
  huge: () => "huge",
  noText: () => Buffer.from([0xff, 0xfe, 0x00, 0xc0, 0xaf, 0xed, 0xa0, 0x80, 0x0a]),
  mark: (_, sound) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), sound]),
  cut: (chance, sound) => sound.subarray(0, 1 + chance.below(sound.length - 2)),
  otherBytes: (chance, sound) => {
    const damaged = Buffer.from(sound);
    for (let n = 0; n < 40; n++) damaged[chance.below(damaged.length)] = chance.below(256);
    return damaged;
  },
  otherDigits: (chance, sound) =>
    Buffer.from(
      sound
        .toString()
        .replaceAll(/\d+/g, (digits) =>
          chance.percent(3) ? chance.oneOf(["-1", "1e400", "null", "99999999999999999999"]) : digits,
        ),
    ),
  twice: (_, sound) => Buffer.concat([sound, sound.subarray(0, sound.length / 2)]),
};

/** What was damaged a little may still be sound. */
const MAY_WORK = ["otherBytes", "otherDigits", "twice"];

/** Made of the sound file. */
const OF_SOUND = [...MAY_WORK, "mark", "cut"];

/** More than a string can have. */
const HUGE_BYTES = 600 * MIB;

const PATIENCE_MS = 120_000;
/** A server that runs for so long has started. */
const STARTED_MS = 20_000;

export interface FilesPlan {
  readonly databaseUrl: string;
  readonly url: string;
  readonly secretKey: string;
  readonly masterKey: string;
  readonly chance: SeededRandom;
  /** How many pairs of a command and a file; undefined: all. */
  readonly most?: number;
  /** What must stay as it is, in words. */
  state(): Promise<string>;
  /** Of an organization that is there. */
  readonly dump: Buffer;
}

interface Command {
  readonly name: string;
  /** Undamaged. */
  readonly sound: Buffer;
  /** What the file is called. */
  readonly file: string;
  readonly env?: Readonly<Record<string, string>>;
  words(file: string): readonly string[];
}

const SCHEMA = new URL("../../packages/server/reference-schema.json", import.meta.url);

/** Gives commands files that are huge, deep, cut or broken: each has to end with a sentence, and to leave nothing. */
export async function tryFiles(plan: FilesPlan): Promise<FileReport> {
  const { chance, databaseUrl, url, secretKey, masterKey } = plan;
  const database = { DATABASE_URL: databaseUrl, HOLDFAST_MASTER_KEY: masterKey };
  const schema = await readFile(SCHEMA);
  const server = (file: string) => ({ ...database, HOLDFAST_SECRET_KEY: secretKey, PORT: "0", HOLDFAST_SCHEMA: file });
  const commands: readonly Command[] = [
    {
      name: "schema push",
      file: "schema.json",
      sound: schema,
      words: (file) => ["schema", "push", file, "--key", secretKey, "--url", url],
    },
    { name: "restore", file: "dump", sound: plan.dump, env: database, words: (file) => ["restore", file, "--new-id"] },
    {
      name: "restore .gz",
      file: "dump.gz",
      sound: gzipSync(plan.dump),
      env: database,
      words: (file) => ["restore", file, "--new-id"],
    },
    { name: "a schema at the start", file: "start.json", sound: schema, words: () => [] },
    {
      name: "--env-file",
      file: "env",
      sound: Buffer.from(`HOLDFAST_URL=${url}\n`),
      words: (file) => ["--env-file", file, "schema", "show"],
    },
    {
      name: "keys.json",
      file: "keys.json",
      sound: Buffer.from(`{"live":"${secretKey.slice(0, -3)}","test":""}`),
      words: () => ["schema", "show", "--url", url],
    },
    {
      name: "admin-token",
      file: "admin-token",
      sound: Buffer.from("x"),
      words: () => ["orgs", "list", "--url", url],
    },
    {
      name: "master-key",
      file: "master-key",
      sound: Buffer.from(masterKey),
      env: { DATABASE_URL: databaseUrl, HOLDFAST_DATASOURCE_ALLOW_PRIVATE: "1" },
      words: () => ["databases", "add", "odd", `${databaseUrl}?sslmode=disable`],
    },
  ];
  const pairs = commands
    .flatMap((command) => Object.keys(CONTENTS).map((content) => [command, content] as const))
    // Who has no master key yet gets one.
    .filter(([{ file }, content]) => file !== "master-key" || content !== "missing");
  const chosen: typeof pairs = [];
  while (pairs.length > 0 && chosen.length < (plan.most ?? Number.POSITIVE_INFINITY))
    chosen.push(...pairs.splice(chance.below(pairs.length), 1));
  const violations: string[] = [];
  let tried = 0;
  let before = await plan.state();
  for (const [command, content] of chosen) {
    const folder = await mkdtemp(join(tmpdir(), "holdfast-odd-files-"));
    try {
      const file = join(folder, command.file);
      const made = (CONTENTS[content] as Content)(chance, command.sound);
      // What is odd inside is read only if the outside is sound.
      const isPacked = command.file.endsWith(".gz") && chance.percent(70);
      await put(file, isPacked && Buffer.isBuffer(made) && !OF_SOUND.includes(content) ? gzipSync(made) : made);
      const there = (await readdir(folder)).join();
      const env =
        command.name === "a schema at the start" ? server(file) : { ...command.env, HOLDFAST_DATA_DIR: folder };
      const isStart = command.words(file).length === 0;
      const ended = await holdfast(command.words(file), env, {
        mostMs: isStart ? STARTED_MS : PATIENCE_MS,
      });
      tried += 1;
      if (MAY_WORK.includes(content) && (ended.code === 0 || (isStart && ended.code === null))) {
        before = await plan.state();
        continue;
      }
      const faults = faultsOf(ended);
      if ((await readdir(folder)).join() !== there) faults.push(`left ${await readdir(folder)}`);
      const after = await plan.state();
      if (after !== before) faults.push(`changed ${before} to ${after}`);
      for (const fault of faults)
        violations.push(`${command.name} with the file "${content}": ${fault}: ${ended.said.slice(0, 400)}`);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  return { tried, violations };
}

async function put(file: string, content: ReturnType<Content>): Promise<void> {
  if (content === "folder") await mkdir(file);
  else if (content === "huge") {
    const handle = await open(file, "w");
    // A file of NUL bytes that takes no room on the disk.
    await handle.truncate(HUGE_BYTES);
    await handle.close();
  } else if (content !== undefined) await writeFile(file, content);
}

function faultsOf({ code, said }: Ended): string[] {
  if (code === null) return ["it did not end by itself"];
  if (code === 0) return ["it ended with 0"];
  const faults: string[] = [];
  if (/^\s+at |node:internal|\bTypeError\b|\bRangeError\b/m.test(said)) faults.push("it shows its inside");
  // Node itself reads an option of this name, too.
  if (!/^(holdfast|.*node): \S/m.test(said)) faults.push("it ends without a sentence");
  return faults;
}
