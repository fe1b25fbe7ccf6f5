import { type ChildProcess, spawn } from "node:child_process";
import { afterEach, expect, test, vi } from "vitest";
import { until } from "../../../../scripts/testing/until.ts";
import { keepPostgresRunning, type PostgresProcess } from "./postgres-process.ts";

// Node programs that stand for Postgres: their output on stderr, and their exit.
const ready = `console.error("LOG:  database system is ready to accept connections");`;
const stays = "setInterval(() => {}, 1000);";
const falls = "setTimeout(() => process.exit(3), 20);";

const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
let running: PostgresProcess | undefined;
afterEach(async () => {
  await running?.stop();
  running = undefined;
});

test("a Postgres that does not start the first time is an error with its last output", async () => {
  const start = starts([`console.error("FATAL:  no room"); process.exit(1);`]);
  await expect(keepPostgresRunning(start, log)).rejects.toThrow("Postgres did not start (code 1). FATAL:  no room");
});

test("a Postgres that ends by itself is started again, even if that takes several attempts", async () => {
  const start = starts([ready + falls, "process.exit(1)", "process.exit(1)", ready + stays]);
  running = await keepPostgresRunning(start, log);
  const first = running.pid;
  await until(() => expect(log.warn).toHaveBeenCalledWith(expect.stringMatching(/^Postgres is running again/)));
  expect(start).toHaveBeenCalledTimes(4);
  expect(running.pid).not.toBe(first);
  expect(log.error).toHaveBeenCalledWith(`Postgres (process ${first}) exited unexpectedly (code 3); restarting it`);
  expect(log.error.mock.calls.filter(([line]) => line.startsWith("Postgres did not start (code 1)"))).toHaveLength(2);
});

test("a stop does not wait for a start that takes long, and nothing starts after it", async () => {
  const start = starts([ready + falls, stays]);
  running = await keepPostgresRunning(start, log);
  await until(() => expect(start).toHaveBeenCalledTimes(2));
  // The second process never becomes ready. A stop that waits for that never ends.
  await running.stop();
  const [first, second]: ChildProcess[] = await Promise.all(start.mock.results.map(({ value }) => value));
  expect(first?.exitCode).toBe(3);
  expect(second?.signalCode).toBe("SIGINT");
  expect(start).toHaveBeenCalledTimes(2);
});

function starts(programs: string[]) {
  return vi.fn(async () => {
    const program = programs.shift() ?? "process.exit(9)";
    return spawn(process.execPath, ["-e", program], { stdio: ["ignore", "ignore", "pipe"] });
  });
}
