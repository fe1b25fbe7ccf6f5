// Opens sockets of the stream and does nothing but answer pings. Prints one line when all are welcomed.
import { openRawStream } from "../stream/raw-stream.ts";

export interface IdlePlan {
  readonly url: string;
  /** The sockets take them in turn. */
  readonly tokens: readonly string[];
  readonly sockets: number;
  /** How many decks each follows, which no other one follows. Undefined: everything. */
  readonly decks?: number;
}

const AT_ONCE = 50;
const plan = JSON.parse(process.argv[2] ?? "{}") as IdlePlan;
const PING = Buffer.from([0x89, 0]);
const PONG = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);
let open = 0;

/** What one of the sockets follows. */
function followed(socket: number) {
  if (plan.decks === undefined) return {};
  return { where: { slide: Array.from({ length: plan.decks }, (_, n) => ({ deckId: `deck ${socket} ${n}` })) } };
}

function openSocket(nth: number, token: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = "";
    let isWelcome = false;
    const socket = openRawStream(plan.url, { token, ...followed(nth) }, (chunk) => {
      // It may come behind another frame.
      if (chunk.subarray(-PING.length).equals(PING)) socket.write(PONG);
      if (isWelcome) return;
      received += chunk.toString("latin1");
      if (!received.includes('"frame":"welcome"')) return;
      isWelcome = true;
      open += 1;
      resolve();
    });
    socket.on("error", reject);
    socket.on("close", () => {
      if (isWelcome) {
        process.stderr.write("bench: a stream was closed\n");
        process.exit(1);
      }
      reject(new Error(`The stream closed a socket: ${received.slice(-300)}`));
    });
  });
}

let next = 0;
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    while (next < plan.sockets) {
      const nth = next++;
      await openSocket(nth, plan.tokens[nth % plan.tokens.length] as string);
    }
  }),
);
process.stdout.write(`${JSON.stringify({ open })}\n`);
process.on("SIGTERM", () => process.exit(0));
