// The floor of deliveries: the same bodies, one after the other, over one connection, and nothing else.
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";

export interface PostPlan {
  readonly url: string;
  /** A JSON array of bodies. */
  readonly file: string;
}

const { url, file } = JSON.parse(process.argv[2] ?? "{}") as PostPlan;
const bodies = (JSON.parse(readFileSync(file, "utf8")) as string[]).map((body) => Buffer.from(body));
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

const post = (body: Buffer) =>
  new Promise<void>((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": body.length, "webhook-id": "floor_1_1" };
    const sent = request(url, { agent, method: "POST", headers });
    sent.on("error", reject);
    sent.on("response", (response) => {
      response.resume();
      response.on("end", resolve);
    });
    sent.end(body);
  });

// Code that has run is faster.
for (const body of bodies.slice(0, 50)) await post(body);
const start = performance.now();
for (const body of bodies) await post(body);
process.stdout.write(JSON.stringify({ seconds: (performance.now() - start) / 1_000, requests: bodies.length }));
agent.destroy();
