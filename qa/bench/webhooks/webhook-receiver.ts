// A receiver of deliveries that does as little as it can: reads to the end, notes when and how much, answers 204.
import { writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ReceiverPlan {
  /** So long an answer takes. */
  readonly answerMs: number;
  /** Never answered. */
  readonly hanging: string;
}

/** Deliveries to one address since the last reset. */
export interface Arrived {
  readonly address: string;
  readonly requests: number;
  readonly events: number;
  readonly bytes: number;
  /** Of each request: first position, last position, and when it was whole, in milliseconds of the clock that all processes share. */
  readonly deliveries: readonly (readonly [from: number, to: number, at: number])[];
}

const plan = JSON.parse(process.argv[2] ?? "{}") as ReceiverPlan;
const now = () => Number(process.hrtime.bigint()) / 1e6;
let byAddress = new Map<string, { bytes: number; deliveries: [number, number, number][] }>();
let kept: Buffer[] | undefined;

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const address = request.url ?? "";
  if (request.method === "GET") return control(address, response);
  if (address === plan.hanging) return void request.resume();
  receive(address, request, () => response.writeHead(204).end());
});

function receive(address: string, request: IncomingMessage, done: () => void): void {
  const environment = byAddress.get(address) ?? { bytes: 0, deliveries: [] };
  byAddress.set(address, environment);
  const { deliveries } = environment;
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => {
    environment.bytes += chunk.length;
    if (kept) chunks.push(chunk);
  });
  request.on("end", () => {
    const [from = 0, to = 0] = String(request.headers["webhook-id"]).split("_").slice(-2).map(Number);
    deliveries.push([from, to, now()]);
    kept?.push(Buffer.concat(chunks));
    if (plan.answerMs > 0) setTimeout(done, plan.answerMs);
    else done();
  });
}

/** Everything is contiguous here: a range says how many events came. */
function control(address: string, response: ServerResponse): void {
  if (address === "/reset") byAddress = new Map();
  if (address === "/keep") kept = [];
  if (address.startsWith("/kept")) {
    writeFileSync(decodeURIComponent(address.slice(6)), JSON.stringify(kept?.map((body) => body.toString())));
    kept = undefined;
  }
  const arrived = [...byAddress].map(
    ([to, { bytes, deliveries }]): Arrived => ({
      address: to,
      requests: deliveries.length,
      events: deliveries.reduce((sum, [first, last]) => sum + last - first + 1, 0),
      bytes,
      deliveries: address === "/deliveries" ? deliveries : [],
    }),
  );
  response.end(JSON.stringify(arrived));
}

server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}` })}\n`);
});
process.on("SIGTERM", () => process.exit(0));
