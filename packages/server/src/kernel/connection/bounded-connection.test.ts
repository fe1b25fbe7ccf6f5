import type { Socket } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { ENDLESS_ROW, endlessly, FILLER, falseDatabase, NOTICE, ROW } from "../../testing/false-database.ts";
import { boundedUrl } from "./answer-bound.ts";
import { connectTo } from "./connection.ts";
import { failureCode } from "./database-error.ts";
import { createPool, session } from "./pool.ts";

const urlOf = (port: number) => boundedUrl(`postgres://a:b@127.0.0.1:${port}/x?sslmode=disable`);

test.each([
  ["a row of 2 GiB", ENDLESS_ROW, FILLER],
  ["an answer that goes on for ever", ROW, Buffer.concat(Array.from({ length: 5_000 }, () => ROW))],
  ["notices for ever", NOTICE, Buffer.concat(Array.from({ length: 1_000 }, () => NOTICE))],
  ["bytes that are no message", Buffer.from("HTTP/1.1 200 OK\r\n"), FILLER],
])("[DS67] a tenant's database that sends %s is away, and the server's memory stays", async (_, first, more) => {
  const port = await falseDatabase((socket) => {
    socket.write(first);
    endlessly(socket, more);
  });
  const pool = createPool({ url: urlOf(port), maxConnections: 1 });
  onTestFinished(() => pool.end());
  const error = await pool.query("select 1").catch((failure: unknown) => failure);
  expect(String(error)).toMatch(/The database sent more than \d+ MiB/);
  expect(failureCode(error)).toBe("unavailable");
});

test.each([
  ["a notice", NOTICE],
  ["a row", ROW],
])(
  "[DS67] [DS156] a tenant's database that sends %s every two seconds, and no end, is away after 30 s",
  async (_, bytes) => {
    let hear = (_: Socket) => {};
    const heardIt = new Promise<Socket>((resolve) => {
      hear = resolve;
    });
    const port = await falseDatabase((socket) => hear(socket));
    const connection = await connectTo(urlOf(port), session);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    let failure: unknown;
    const heard = () => new Promise((resolve) => connectionSocket(connection).once("data", resolve));
    const asked = connection.query("select 1").catch((error: unknown) => {
      failure = error;
    });
    const far = await heardIt;
    for (let second = 0; second < 28; second += 2) {
      const next = heard();
      far.write(bytes);
      await next;
      await vi.advanceTimersByTimeAsync(2_000);
    }
    expect(failure).toBeUndefined();
    await vi.advanceTimersByTimeAsync(2_000);
    await asked;
    expect(String(failure)).toMatch(/The database connection stopped responding/);
  },
);

test("[DS67] a connection with a limited life ends with it, whatever the database sends", async () => {
  const port = await falseDatabase(() => {});
  const connection = await connectTo(urlOf(port), { ...session, lifeMs: 100 });
  connection.answers("in time");
  await expect(connection.query("select 1")).rejects.toThrow("The database took longer than 0.1 s.");
});

const connectionSocket = (client: unknown) =>
  (client as { connection: { stream: NodeJS.EventEmitter } }).connection.stream;
