import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { serverLimits } from "@holdfast/sdk/protocol";
import { pino } from "pino";
import { expect, test } from "vitest";
import { createAnswerBytes } from "../../kernel/limits/answer-bytes.ts";
import { createLimiter } from "../../kernel/limits/limiter.ts";
import { createCounters } from "./counters.ts";
import { createEdge } from "./edge.ts";

const TOGETHER = 40;

test("[L15] [L17] bodies of some ten kilobytes that came together are read one in each turn of the event loop", async () => {
  const { app } = await createEdge({
    logger: pino({ level: "silent" }),
    isOriginAllowed: () => true,
    stopping: new AbortController().signal,
    docUrl: () => "",
    limits: serverLimits,
    counters: createCounters(),
    answers: createAnswerBytes({ perToken: serverLimits.answerBytesPerToken, total: Number.POSITIVE_INFINITY }),
    largeBodies: createLimiter({ most: 4, mostPerKey: 1 }),
  });
  let turn = 0;
  let isOver = false;
  const count = () => {
    turn += 1;
    if (!isOver) setImmediate(count);
  };
  const readIn: number[] = [];
  app.post("/", async () => readIn.push(turn));
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const sockets = Array.from({ length: TOGETHER }, () => connect(port, "127.0.0.1"));
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  count();
  // Connections that are new are taken one in each turn anyway.
  for (const bytes of [1_000, 10_000]) {
    readIn.length = 0;
    const body = JSON.stringify({ text: "x".repeat(bytes) });
    const head = `POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
    for (const socket of sockets) socket.write(head + body);
    await Promise.all(sockets.map((socket) => once(socket, "data")));
  }
  isOver = true;
  for (const socket of sockets) socket.destroy();
  await app.close();
  expect(readIn).toHaveLength(TOGETHER);
  expect(new Set(readIn).size).toBe(TOGETHER);
});
