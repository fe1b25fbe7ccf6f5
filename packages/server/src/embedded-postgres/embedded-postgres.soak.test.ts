import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "../../../../scripts/testing/temporary-folder.ts";
import { until } from "../../../../scripts/testing/until.ts";
import { type EmbeddedOptions, type EmbeddedPostgres, startEmbeddedPostgres } from "./embedded-postgres.ts";
import { findPostgresBinaries } from "./postgres-binaries.ts";
import { choosePostgresUser, commandAs, type PostgresUser, systemUser } from "./postgres-user.ts";

const asRoot = process.getuid?.() === 0;
describe("the data", () => {
  test("is there again after a stop", async () => {
    const dataDir = directory();
    const first = await start({ dataDir });
    await query(first.url, "create table kept as select 7 as n");
    await first.stop();
    const second = await start({ dataDir });
    expect(await query(second.url, "select n from kept")).toEqual([{ n: 7 }]);
  });

  test("is as durable as Postgres can make it, unless it is thrown away", async () => {
    const durability = "select current_setting('fsync') fsync, current_setting('synchronous_commit') sync";
    const kept = await start({ dataDir: directory() });
    expect(await query(kept.url, durability)).toEqual([{ fsync: "on", sync: "on" }]);
    const thrown = await start({ throwaway: true, settings: { fsync: "on" } });
    expect(await query(thrown.url, durability)).toEqual([{ fsync: "on", sync: "off" }]);
  });

  test("is made anew when the first start was cut off half way", async () => {
    const dataDir = directory();
    mkdirSync(join(dataDir, "postgres", "data.unfinished", "base"), { recursive: true });
    writeFileSync(join(dataDir, "postgres", "data.unfinished", "PG_VERSION"), "18\n");
    expect(await answers((await start({ dataDir })).url)).toBe(true);
  });

  test("of another Postgres version is refused with a sentence", async () => {
    const dataDir = directory();
    await (await start({ dataDir })).stop();
    writeFileSync(join(dataDir, "postgres", "data", "PG_VERSION"), "17\n");
    await expect(start({ dataDir })).rejects.toThrow(/was written by Postgres 17.*pg_dump/);
  });

  test("of a throwaway is removed when it stops", async () => {
    const postgres = await start({ throwaway: true });
    const socket = decodeURIComponent(new URL(postgres.url).hostname);
    expect(statSync(socket).isDirectory()).toBe(true);
    await postgres.stop();
    expect(() => statSync(socket)).toThrow(/ENOENT/);
  });
});

describe("one directory, one server", () => {
  test("a second process fails with a sentence that names the first, which continues", async () => {
    const dataDir = directory();
    const first = await start({ dataDir });
    await expect(start({ dataDir })).rejects.toThrow(
      `in use by another Holdfast server (process ${process.pid}). Stop that server`,
    );
    expect(await answers(first.url)).toBe(true);
  });

  test("of several that start at once, one runs and the others are refused", async () => {
    const dataDir = directory();
    const told = await Promise.all([1, 2, 3].map(() => runInProcess(dataDir).then(({ told }) => told)));
    expect(told.filter((line) => "url" in line)).toHaveLength(1);
    expect(told.filter((line) => line.refused?.includes("in use by another Holdfast server"))).toHaveLength(2);
  });
});

describe("after a kill", () => {
  test("of the server, the next one starts on the same data", async () => {
    const dataDir = directory();
    const { child, told } = await runInProcess(dataDir);
    await query(told.url ?? "", "create table kept as select 7 as n");
    child.kill("SIGKILL");
    await once(child, "exit");
    const next = await start({ dataDir });
    expect(await query(next.url, "select n from kept")).toEqual([{ n: 7 }]);
    expect(isAlive(told.pid ?? 0)).toBe(false);
  });

  test("of the server, a Postgres that lived on is ended first", async () => {
    const dataDir = directory();
    await (await start({ dataDir })).stop();
    const orphan = await runPostgresAlone(dataDir);
    const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
    const next = await start({ dataDir, log });
    expect(await answers(next.url)).toBe(true);
    expect(isAlive(orphan)).toBe(false);
    expect(log.warn).toHaveBeenCalledWith(expect.stringContaining("stopping a Postgres that an earlier server left"));
  });

  test("a process that only has the number of the earlier Postgres is left alone", async () => {
    const dataDir = directory();
    await (await start({ dataDir })).stop();
    const stranger = spawn("sleep", ["60"]);
    onTestFinished(() => void stranger.kill());
    const data = join(dataDir, "postgres", "data");
    writeFileSync(join(data, "postmaster.pid"), `${stranger.pid}\n${data}\n1700000000\n5432\n\n\n`);
    expect(await answers((await start({ dataDir })).url)).toBe(true);
    expect(isAlive(stranger.pid ?? 0)).toBe(true);
  });

  test("of Postgres, it runs again at the same address with what was committed", async () => {
    const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
    const postgres = await start({ dataDir: directory(), log });
    await query(postgres.url, "create table kept as select 7 as n");
    // A child that is at work does not notice that its parent is gone, and would keep a new Postgres from starting.
    const busy = query(postgres.url, "select count(*) from generate_series(1, 1e12::bigint)").catch(() => "cut off");
    await until(async () => expect(await query(postgres.url, working)).toEqual([{ n: 1 }]));
    const before = postgres.pid;
    process.kill(before, "SIGKILL");
    await until(() => expect(postgres.pid).not.toBe(before));
    await until(async () => expect(await query(postgres.url, "select n from kept")).toEqual([{ n: 7 }]));
    expect(await busy).toBe("cut off");
    expect(log.error).toHaveBeenCalledWith(`Postgres (process ${before}) exited unexpectedly (SIGKILL); restarting it`);
  });
  const working = "select count(*)::int n from pg_stat_activity where query like '%1e12%' and pid <> pg_backend_pid()";
});

describe("only the server can connect", () => {
  test("Postgres listens in a directory that only its owner may enter, and on no port", async () => {
    const postgres = await start({ dataDir: directory() });
    expect(await query(postgres.url, "show listen_addresses")).toEqual([{ listen_addresses: "" }]);
    const socket = decodeURIComponent(new URL(postgres.url).hostname);
    expect(statSync(socket).mode & 0o777).toBe(0o700);
    expect(statSync(join(dirname(socket), "data")).mode & 0o777).toBe(0o700);
    expect(statSync(join(dirname(socket), "password")).mode & 0o777).toBe(0o600);
  });

  test.runIf(asRoot)("another user of the machine is turned away even with the right password", async () => {
    const { url } = await start({ dataDir: openDirectory() });
    expect(await connectAs(0, url)).toBe("in");
    expect(await connectAs(65534, url)).toBe("EACCES");
  });

  test.runIf(asRoot)("a directory that a stranger laid out for us is refused", async () => {
    const dataDir = directory();
    mkdirSync(join(dataDir, "postgres"));
    chownSync(join(dataDir, "postgres"), 65534, 65534);
    await expect(start({ dataDir })).rejects.toThrow(/belongs to another user/);
  });

  test("a wrong password, none, and another name are refused on the socket too", async () => {
    const { url } = await start({ dataDir: directory() });
    await expectTurnedAway(url);
  });

  test("if the path is too long for a socket, Postgres listens on 127.0.0.1 with a password", async () => {
    const dataDir = join(directory(), "d".repeat(120));
    const { url } = await start({ dataDir });
    expect(new URL(url).hostname).toBe("127.0.0.1");
    expect(await answers(url)).toBe(true);
    await expectTurnedAway(url);
  });

  test("Postgres is given none of our variables", async () => {
    vi.stubEnv("HOLDFAST_MASTER_KEY", "a secret");
    const { pid } = await start({ dataDir: directory() });
    vi.unstubAllEnvs();
    if (process.platform === "linux") expect(readFileSync(`/proc/${pid}/environ`, "utf8")).not.toContain("HOLDFAST");
  });

  async function expectTurnedAway(url: string): Promise<void> {
    for (const [user, password] of [
      ["holdfast", "guess"],
      ["holdfast", ""],
      ["postgres", ""],
    ] as const) {
      const attempt = new URL(url);
      attempt.username = user;
      attempt.password = password;
      await expect(answers(attempt.href)).rejects.toThrow(/password/);
    }
  }
});

describe("on this machine", () => {
  test.runIf(asRoot)("root without user namespaces runs it as a system user", async () => {
    const user = systemUser();
    const dataDir = openDirectory();
    const { url, pid } = await start({ dataDir, user });
    expect(await answers(url)).toBe(true);
    expect(statSync(`/proc/${pid}`).uid).toBe(user.uid);
    // That user reaches its own folders and nothing beside them.
    expect(await connectAs(user.uid, url)).toBe("in");
    const { status } = spawnSync("ls", [join(dataDir, "postgres")], { uid: user.uid, gid: user.gid });
    expect(status).not.toBe(0);
    expect(await connectAs(user.uid === 65534 ? 65533 : 65534, url)).toBe("EACCES");
  });

  test.runIf(asRoot)("a directory that the system user cannot reach is refused with a sentence", async () => {
    await expect(start({ dataDir: join(directory(), "inner"), user: systemUser() })).rejects.toThrow(
      /cannot access .*HOLDFAST_DATA_DIR/,
    );
  });

  test("without a binary that fits, a sentence names DATABASE_URL", async () => {
    await expect(findPostgresBinaries({ kind: "self" }, "plan9-mips")).rejects.toThrow(
      /Holdfast has no bundled Postgres for this machine \(plan9-mips\)\. Set DATABASE_URL/,
    );
  });
});

async function start(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const postgres = await startEmbeddedPostgres(options);
  onTestFinished(() => postgres.stop());
  return postgres;
}

/** Only we may enter it. */
function directory(): string {
  const path = temporaryFolder("test", onTestFinished);
  return path;
}

/** Everybody may enter it, so that what keeps them out is below. */
function openDirectory(): string {
  const path = directory();
  spawnSync("chmod", ["755", path]);
  return path;
}

async function query(url: string, statement: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

const answers = async (url: string) => (await query(url, "select 1")).length === 1;

/** "in", or why not; from a process of that user. */
async function connectAs(uid: number, url: string): Promise<string> {
  const socket = `${decodeURIComponent(new URL(url).hostname)}/.s.PGSQL.5432`;
  const attempt = `require("net").connect(process.argv[1])
    .on("connect", () => { console.log("in"); process.exit(); })
    .on("error", (error) => console.log(error.code))`;
  return spawnSync(process.execPath, ["-e", attempt, socket], {
    uid,
    gid: uid,
    cwd: "/",
    encoding: "utf8",
  }).stdout.trim();
}

/** A server in a process of its own, and the line with which it answered. */
async function runInProcess(dataDir: string) {
  const script = fileURLToPath(new URL("../testing/programs/embedded-process.ts", import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", script, dataDir], {
    cwd: dirname(script),
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => endProcess(child));
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return { child, told: JSON.parse(line) as { url?: string; pid?: number; refused?: string } };
}

async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

/** What `kill -9` of a server leaves on a system that cannot end Postgres together with it. */
async function runPostgresAlone(dataDir: string): Promise<number> {
  const user: PostgresUser = choosePostgresUser();
  const { postgres } = await findPostgresBinaries(user);
  const home = join(dataDir, "postgres");
  const only = ["listen_addresses=", `unix_socket_directories=${join(home, "socket")}`].flatMap((s) => ["-c", s]);
  const words = ["-D", join(home, "data"), ...only];
  const { file, args, options } = commandAs(user, postgres, words);
  const child = spawn(file, args, { ...options, cwd: dataDir, stdio: ["ignore", "ignore", "pipe"], detached: true });
  onTestFinished(() => endProcess(child));
  const lines = createInterface({ input: child.stderr });
  await new Promise<void>((ready) => lines.on("line", (line) => line.includes("ready to accept") && ready()));
  return child.pid ?? 0;
}

/** A process that has ended but was not yet collected by its parent still takes signals; Linux shows it as Z. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== "linux" || !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
