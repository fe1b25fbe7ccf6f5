// Opens sockets of the stream and does nothing but answer pings. Prints one line when all are welcomed.
import { randomBytes } from "node:crypto";
import { connect } from "node:net";

export interface IdlePlan {
  readonly url: string;
  /** The sockets take them in turn. */
  readonly tokens: readonly string[];
  readonly sockets: number;
}

const AT_ONCE = 50;
const plan = JSON.parse(process.argv[2] ?? "{}") as IdlePlan;
const place = Buffer.allocUnsafe(65_536);
const PONG = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);
const PING = 0x89;
let open = 0;

function textFrame(text: string): Buffer {
  const payload = Buffer.from(text);
  const length =
    payload.length < 126 ? [0x80 | payload.length] : [0x80 | 126, payload.length >> 8, payload.length & 255];
  return Buffer.concat([Buffer.from([0x81, ...length, 0, 0, 0, 0]), payload]);
}

function openSocket(token: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const { hostname, port, host } = new URL(plan.url);
    let talk = "";
    let isWelcome = false;
    const socket = connect({
      host: hostname,
      port: Number(port),
      noDelay: true,
      onread: {
        buffer: place,
        callback: (length) => {
          if (isWelcome) {
            if (place[0] === PING) socket.write(PONG);
            return true;
          }
          talk += place.toString("latin1", 0, length);
          if (talk.includes('"frame":"welcome"')) {
            isWelcome = true;
            open += 1;
            resolve();
          } else if (talk.endsWith("\r\n\r\n")) {
            if (talk.startsWith("HTTP/1.1 101 ")) socket.write(textFrame(JSON.stringify({ frame: "hello", token })));
            else reject(new Error(`The stream was answered: ${talk}`));
          }
          return true;
        },
      },
    });
    socket.on("error", reject);
    socket.on("close", () => {
      if (isWelcome) {
        process.stderr.write("bench: a stream was closed\n");
        process.exit(1);
      }
      reject(new Error(`The stream closed a socket: ${talk.slice(-300)}`));
    });
    socket.write(
      [
        "GET /v1/stream HTTP/1.1",
        `host: ${host}`,
        "connection: upgrade",
        "upgrade: websocket",
        "sec-websocket-version: 13",
        `sec-websocket-key: ${randomBytes(16).toString("base64")}`,
        "sec-websocket-protocol: holdfast.v1",
        "\r\n",
      ].join("\r\n"),
    );
  });
}

let next = 0;
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    while (next < plan.sockets) await openSocket(plan.tokens[next++ % plan.tokens.length] as string);
  }),
);
process.stdout.write(`${JSON.stringify({ open })}\n`);
process.on("SIGTERM", () => process.exit(0));
