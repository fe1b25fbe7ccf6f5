import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, expect, test } from "vitest";
import { until } from "../../../../../scripts/testing/until.ts";
import { startApp } from "../../testing/app.ts";
import { type KeptConnection, keptConnection } from "../../testing/kept-connection.ts";
import { smallServers } from "../../testing/small-server.ts";
import { untilBlocked } from "../../testing/waiting/blocked.ts";

const app = await startApp();
const process = smallServers(app);
const READ = `GET /v1/models/slide HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${app.keys.live}\r\n\r\n`;
const opened: KeptConnection[] = [];
afterAll(() => {
  for (const connection of opened) connection.destroy();
});

async function connections(url: string, count: number): Promise<KeptConnection[]> {
  const all = await Promise.all(Array.from({ length: count }, () => keptConnection(url, READ)));
  opened.push(...all);
  return all;
}

/** "connected", or the code of the error. */
const outcomeOf = (url: string) =>
  new Promise<string | undefined>((resolve) => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname, () => resolve("connected"));
    socket.on("error", ({ code }: NodeJS.ErrnoException) => resolve(code));
    socket.on("connect", () => socket.destroy());
  });

/** The connections that lack an answer, or whose last answer does not say that the connection closes. */
const cut = (all: readonly KeptConnection[]) =>
  all
    .filter(({ asked, answers }) => answers.length !== asked || answers.at(-1)?.closes !== true)
    .map(({ asked, answers }) => ({ asked, answers: answers.length, last: answers.at(-1) }));

test("[O32] a server that is told to stop answers what has arrived and is not read yet, on old and new connections", async () => {
  const { server } = await app.another();
  const old = await connections(server.url, 64);
  for (const connection of old) connection.ask();
  await until(() => old.every(({ answers }) => answers.length === 1));
  // Established by the system. The server has yet to accept them.
  const fresh = await connections(server.url, 16);
  for (const connection of [...old, ...fresh]) connection.ask();
  const closed = server.close();
  await Promise.all([...old, ...fresh].map(({ ended }) => ended));
  await closed;
  expect(cut([...old, ...fresh])).toEqual([]);
  expect(new Set([...old, ...fresh].flatMap(({ answers }) => answers.map(({ status }) => status)))).toEqual(
    new Set([200]),
  );
});

test("[O32] [O42] 256 busy connections of a process that gets SIGTERM: each request is answered, and the process exits with 0", async () => {
  const { url, child } = await process(256);
  const all = await connections(url, 256);
  for (const connection of all) connection.keepAsking();
  await until(() => all.every(({ answers }) => answers.length > 1));
  const exit = once(child, "exit");
  child.kill("SIGTERM");
  await Promise.all(all.map(({ ended }) => ended));
  expect(cut(all)).toEqual([]);
  expect(await exit).toEqual([0, null]);
});

test("[O32] [O42] [H17] while it waits for the last answers, the server refuses new connections, and ends those that ask nothing", async () => {
  const { server } = await app.another();
  const holder = await app.hold("lock table holdfast.record in access exclusive mode");
  const [busy, idle, half] = (await connections(server.url, 3)) as [KeptConnection, KeptConnection, KeptConnection];
  busy.ask();
  await untilBlocked(app);
  half.ask(1, false);
  const closed = server.close();
  await until(async () => expect(await outcomeOf(server.url)).toBe("ECONNREFUSED"));
  await idle.ended;
  expect(busy.answers).toEqual([]);
  half.finish();
  await half.ended;
  expect(half.answers).toEqual([{ status: 503, closes: true, length: expect.any(Number) }]);
  await holder.release();
  await Promise.all([busy.ended, closed]);
  expect(cut([busy, half])).toEqual([]);
});

test("[H16] requests that were sent one behind the other are all answered, and the last answer closes the connection", async () => {
  const { server } = await app.another();
  const holder = await app.hold("lock table holdfast.record in access exclusive mode");
  const [before, after] = (await connections(server.url, 2)) as [KeptConnection, KeptConnection];
  before.ask(3);
  await untilBlocked(app);
  after.ask(3);
  const closed = server.close();
  await holder.release();
  await Promise.all([before.ended, after.ended, closed]);
  for (const { answers } of [before, after]) {
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers.map(({ closes }) => closes)).toEqual([false, false, true]);
  }
});
