// Opens sockets of the stream, hears every commit, and prints how long those took that are marked from being sent to being
// heard. Many sockets share the machine with what is measured, so that each has to cost little: a frame is searched for its
// marks as the bytes that it came as. A library for WebSockets costs as much as what it measures.
import { randomBytes } from "node:crypto";
import { request } from "node:http";
import type { Duplex } from "node:stream";

export interface ListenPlan {
  readonly url: string;
  readonly token: string;
  readonly sockets: number;
  /** Stands right before the time of sending: 20 digits, nanoseconds of `process.hrtime`. */
  readonly mark: string;
}

const TIME_DIGITS = 20;
const TEXT_FRAME = 0x81;

const plan = JSON.parse(process.argv[2] ?? "{}") as ListenPlan;
const mark = Buffer.from(plan.mark);
const delays: number[] = [];

/** The handshake, and the bytes after it. */
const open = (): Promise<Duplex> =>
  new Promise((resolve, reject) => {
    const headers = {
      connection: "upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": randomBytes(16).toString("base64"),
      "sec-websocket-protocol": "holdfast.v1",
    };
    request(`${plan.url}/v1/stream`, { headers })
      .on("upgrade", (_answer, socket, head) => {
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
      })
      .on("response", ({ statusCode }) => reject(new Error(`The stream was answered ${statusCode}.`)))
      .on("error", reject)
      .end();
  });

/** A frame as a client sends it: masked, here by zeros, which change nothing. Up to 125 bytes, and up to 65,535. */
function textFrame(text: string): Buffer {
  const payload = Buffer.from(text);
  const length =
    payload.length < 126 ? [0x80 | payload.length] : [0x80 | 126, payload.length >> 8, payload.length & 255];
  return Buffer.concat([Buffer.from([TEXT_FRAME, ...length, 0, 0, 0, 0]), payload]);
}

/** Resolves with the first frame, which is the welcome. */
async function listen(): Promise<void> {
  const socket = await open();
  const welcomed = new Promise<void>((resolve, reject) => {
    socket.once("data", () => resolve());
    socket.once("close", () => reject(new Error("The stream closed a socket.")));
  });
  let rest = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    const heard = process.hrtime.bigint();
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let done = 0;
    for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, done)) {
      const begin = at + mark.length;
      if (begin + TIME_DIGITS > bytes.length) break;
      done = begin + TIME_DIGITS;
      delays.push(Number(heard - BigInt(bytes.toString("latin1", begin, done))) / 1e6);
    }
    // A mark or its time may have been cut in two.
    rest = Buffer.from(bytes.subarray(Math.max(done, bytes.length - mark.length - TIME_DIGITS + 1)));
  });
  socket.write(textFrame(JSON.stringify({ frame: "hello", token: plan.token })));
  await welcomed;
}

await Promise.all(Array.from({ length: plan.sockets }, listen));
process.stdout.write(`${JSON.stringify({ ready: true })}\n`);
process.on("SIGTERM", () => {
  process.stdout.write(`${JSON.stringify(delays)}\n`, () => process.exit(0));
});
