// Opens sockets of the stream, hears every commit, and prints how long those took that are marked from being sent to being
// heard. Many sockets share the machine with what is measured, so that each has to cost little: a frame is searched for its
// marks as the bytes that it came as. A library for WebSockets costs as much as what it measures.
import { randomBytes } from "node:crypto";
import { connect } from "node:net";

export interface ListenPlan {
  readonly url: string;
  readonly token: string;
  readonly sockets: number;
  /** Stands right before the time of sending: 20 digits, nanoseconds of `process.hrtime`. */
  readonly mark: string;
}

const TIME_DIGITS = 20;
const TEXT_FRAME = 0x81;
const BRACE = 0x7d;
/** What comes to any socket is read into the same bytes: to make a place for each costs more than to search it. */
const READ_BYTES = 65_536;

const plan = JSON.parse(process.argv[2] ?? "{}") as ListenPlan;
const mark = Buffer.from(plan.mark);
const delays: number[] = [];
const place = Buffer.allocUnsafe(READ_BYTES);

/** A frame as a client sends it: masked, here by zeros, which change nothing. Up to 125 bytes, and up to 65,535. */
function textFrame(text: string): Buffer {
  const payload = Buffer.from(text);
  const length =
    payload.length < 126 ? [0x80 | payload.length] : [0x80 | 126, payload.length >> 8, payload.length & 255];
  return Buffer.concat([Buffer.from([TEXT_FRAME, ...length, 0, 0, 0, 0]), payload]);
}

function handshake(host: string): string {
  return [
    "GET /v1/stream HTTP/1.1",
    `host: ${host}`,
    "connection: upgrade",
    "upgrade: websocket",
    "sec-websocket-version: 13",
    `sec-websocket-key: ${randomBytes(16).toString("base64")}`,
    "sec-websocket-protocol: holdfast.v1",
    "\r\n",
  ].join("\r\n");
}

/** Resolves when the server says that it tells what happens from now on. */
function listen(): Promise<void> {
  return new Promise((resolve, reject) => {
    const { hostname, port, host } = new URL(plan.url);
    let talk = Buffer.alloc(0);
    let hear = (chunk: Buffer): void => {
      talk = Buffer.concat([talk, chunk]);
      const said = talk.toString("latin1");
      if (said.includes('"frame":"welcome"')) {
        hear = heardFrom();
        resolve();
      } else if (said.endsWith("\r\n\r\n")) {
        if (said.startsWith("HTTP/1.1 101 ")) socket.write(hello);
        else reject(new Error(`The stream was answered: ${said}`));
      }
    };
    const socket = connect({
      host: hostname,
      port: Number(port),
      noDelay: true,
      onread: {
        buffer: place,
        callback: (length) => {
          hear(place.subarray(0, length));
          return true;
        },
      },
    });
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("The stream closed a socket.")));
    socket.write(handshake(host));
  });
}

/** Keeps how long each marked commit took that one socket hears of. */
function heardFrom(): (chunk: Buffer) => void {
  let cut: Buffer | undefined;
  return (chunk) => {
    const heard = Number(process.hrtime.bigint());
    const bytes = cut ? Buffer.concat([cut, chunk]) : chunk;
    let done = 0;
    for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, done)) {
      const begin = at + mark.length;
      if (begin + TIME_DIGITS > bytes.length) break;
      done = begin + TIME_DIGITS;
      delays.push((heard - Number(bytes.toString("latin1", begin, done))) / 1e6);
    }
    // No mark and no time holds a brace: one that ends what came is a frame's, or at least cuts no mark in two.
    cut = bytes.at(-1) === BRACE ? undefined : Buffer.from(bytes.subarray(done));
  };
}

const hello = textFrame(JSON.stringify({ frame: "hello", token: plan.token }));
await Promise.all(Array.from({ length: plan.sockets }, listen));
process.stdout.write(`${JSON.stringify({ ready: true })}\n`);
process.on("SIGTERM", () => {
  process.stdout.write(`${JSON.stringify(delays)}\n`, () => process.exit(0));
});
