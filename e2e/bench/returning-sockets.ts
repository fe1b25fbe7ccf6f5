// Opens all its sockets at once, each behind by many entries, and prints how long it took until each had them all.
import { randomBytes } from "node:crypto";
import { connect } from "node:net";

export interface ReturningPlan {
  readonly url: string;
  /** One for each socket. */
  readonly tokens: readonly string[];
  readonly since: number;
  readonly until: number;
}

export interface ReturningResult {
  readonly seconds: number;
  /** Sockets that ended before they had caught up. */
  readonly closed: number;
}

const PATIENCE_MS = 60_000;
let input = "";
for await (const chunk of process.stdin) input += String(chunk);
const plan = JSON.parse(input) as ReturningPlan;
const place = Buffer.allocUnsafe(65_536);
/** Stands in the last frame of entries, near its beginning. */
const end = Buffer.from(`"to":${plan.until},"entries"`);

function textFrame(text: string): Buffer {
  const payload = Buffer.from(text);
  const length =
    payload.length < 126 ? [0x80 | payload.length] : [0x80 | 126, payload.length >> 8, payload.length & 255];
  return Buffer.concat([Buffer.from([0x81, ...length, 0, 0, 0, 0]), payload]);
}

function catchUp(token: string): Promise<"caught up" | "closed"> {
  return new Promise((resolve) => {
    const { hostname, port, host } = new URL(plan.url);
    let greeting = "";
    let isOpen = false;
    let rest = Buffer.alloc(0);
    const socket = connect({
      host: hostname,
      port: Number(port),
      noDelay: true,
      onread: {
        buffer: place,
        callback: (length) => {
          const chunk = place.subarray(0, length);
          if (!isOpen) {
            greeting += chunk.toString("latin1");
            if (!greeting.endsWith("\r\n\r\n")) return true;
            isOpen = true;
            const hello = { frame: "hello", token, since: plan.since, clientId: randomBytes(9).toString("hex") };
            socket.write(textFrame(JSON.stringify(hello)));
            return true;
          }
          if (Buffer.concat([rest, chunk]).includes(end)) resolve("caught up");
          rest = Buffer.from(chunk.subarray(-64));
          return true;
        },
      },
    });
    socket.on("error", () => resolve("closed"));
    socket.on("close", () => resolve("closed"));
    setTimeout(() => resolve("closed"), PATIENCE_MS).unref();
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

const begun = performance.now();
const came = await Promise.all(plan.tokens.map(catchUp));
const result: ReturningResult = {
  seconds: (performance.now() - begun) / 1_000,
  closed: came.filter((one) => one === "closed").length,
};
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
