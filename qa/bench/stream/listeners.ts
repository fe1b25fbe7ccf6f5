// Opens sockets of the stream, hears every commit, and prints how long those took that are marked from being sent to being
// heard. Many sockets share the machine with what is measured, so that each has to cost little: a frame is searched for its
// marks as the bytes that it came as.
import { openRawStream } from "./raw-stream.ts";

export interface ListenPlan {
  readonly url: string;
  /** The sockets take them in turn. */
  readonly tokens: readonly string[];
  readonly sockets: number;
  /** Stands right before the time of sending: 20 digits, nanoseconds of `process.hrtime`. */
  readonly mark: string;
}

const AT_ONCE = 50;
const TIME_DIGITS = 20;
const BRACE = 0x7d;

const plan = JSON.parse(process.argv[2] ?? "{}") as ListenPlan;
const mark = Buffer.from(plan.mark);
const delays: number[] = [];

/** Resolves when the server says that it tells what happens from now on. */
function listen(nth: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    let onData = (chunk: Buffer): void => {
      received = Buffer.concat([received, chunk]);
      if (!received.toString("latin1").includes('"frame":"welcome"')) return;
      onData = delayRecorder();
      resolve();
    };
    const socket = openRawStream(plan.url, { token: plan.tokens[nth % plan.tokens.length] }, (chunk) => onData(chunk));
    socket.on("error", reject);
    socket.on("close", () => reject(new Error("The stream closed a socket.")));
  });
}

/** Keeps how long each marked commit took that one socket hears of. */
function delayRecorder(): (chunk: Buffer) => void {
  let cut: Buffer | undefined;
  return (chunk) => {
    const receivedAt = Number(process.hrtime.bigint());
    const bytes = cut ? Buffer.concat([cut, chunk]) : chunk;
    let done = 0;
    for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, done)) {
      const begin = at + mark.length;
      if (begin + TIME_DIGITS > bytes.length) break;
      done = begin + TIME_DIGITS;
      delays.push((receivedAt - Number(bytes.toString("latin1", begin, done))) / 1e6);
    }
    // No mark and no time holds a brace: one that ends what came is a frame's, or at least cuts no mark in two.
    cut = bytes.at(-1) === BRACE ? undefined : Buffer.from(bytes.subarray(done));
  };
}

let next = 0;
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    while (next < plan.sockets) await listen(next++);
  }),
);
process.stdout.write(`${JSON.stringify({ ready: true })}\n`);
process.on("SIGTERM", () => {
  process.stdout.write(`${JSON.stringify(delays)}\n`, () => process.exit(0));
});
