import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { until } from "../../../../../scripts/testing/until.ts";
import type { SourceAddress } from "./rules/source-call.ts";
import { createCallSender } from "./send-call.ts";

/** Answers with `head`, and then with `piece` without end. */
async function endless(head: string, piece: string) {
  let isEnded = false;
  const server = createServer((socket) => {
    socket.on("error", () => {}).on("close", () => (isEnded = true));
    const write = () => {
      while (!socket.destroyed && socket.write(piece.repeat(500)));
    };
    socket.write(head);
    socket.on("drain", write);
    write();
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, isEnded: () => isEnded };
}

test.each([
  ["informational answers", "", "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"],
  ["small pieces", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", "1\r\na\r\n"],
])(
  "[DS93] [DS169] an endpoint's answer in too many %s is ended, long before its deadline and its bound of bytes",
  async (what, ...texts) => {
    const { port, isEnded } = await endless(...(texts as [string, string]));
    const sender = createCallSender({ allowPrivate: true, connectMs: 500, requestMs: 600_000 });
    onTestFinished(sender.close);
    const to: SourceAddress = { endpoint: `http://127.0.0.1:${port}/`, secrets: ["whsec_AAAA"] };
    const result = await sender.send(to, "call_1", "{}", { most: 2 ** 30, take: () => true });
    expect(result).toMatchObject({ problem: expect.stringContaining(what) });
    await until(isEnded);
  },
);
