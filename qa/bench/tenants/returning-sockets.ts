// Opens all its sockets at once, each behind by many entries, and prints how long it took until each had them all.
import { randomBytes } from "node:crypto";
import { openRawStream } from "../stream/raw-stream.ts";

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
/** Stands in the last frame of entries, near its beginning. */
const end = Buffer.from(`"to":${plan.until},"entries"`);

function catchUp(token: string): Promise<"caught up" | "closed"> {
  return new Promise((resolve) => {
    let rest = Buffer.alloc(0);
    const hello = { token, since: plan.since, clientId: randomBytes(9).toString("hex") };
    const socket = openRawStream(plan.url, hello, (chunk) => {
      if (Buffer.concat([rest, chunk]).includes(end)) resolve("caught up");
      rest = Buffer.from(chunk.subarray(-64));
    });
    socket.on("error", () => resolve("closed"));
    socket.on("close", () => resolve("closed"));
    setTimeout(() => resolve("closed"), PATIENCE_MS).unref();
  });
}

const begun = performance.now();
const came = await Promise.all(plan.tokens.map(catchUp));
const result: ReturningResult = {
  seconds: (performance.now() - begun) / 1_000,
  closed: came.filter((one) => one === "closed").length,
};
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
