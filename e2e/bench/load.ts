// Sends one kind of request as fast as it is answered, in a process of its own, and prints what came of it as JSON.
import autocannon from "autocannon";

export interface LoadPlan {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  /** Each connection goes through these in turn; `[<id>]` in a body becomes another id every time. */
  readonly requests: readonly { readonly path: string; readonly token?: string; readonly body: string }[];
}

export interface LoadResult {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly answers: number;
  /** Answers that were not 2xx, and requests without one. */
  readonly failed: number;
}

const plan = JSON.parse(process.argv[2] ?? "{}") as LoadPlan;
const run = (seconds: number) =>
  autocannon({
    url: plan.url,
    connections: plan.connections,
    duration: seconds,
    idReplacement: true,
    requests: plan.requests.map(({ path, token, body }) => ({
      method: "POST",
      path,
      headers: { "content-type": "application/json", ...(token !== undefined && { authorization: `Bearer ${token}` }) },
      body,
    })),
  } as autocannon.Options);
await run(1);
const result = await run(plan.seconds);
const answered: LoadResult = {
  perSecond: result["2xx"] / result.duration,
  p50Ms: result.latency.p50,
  p99Ms: result.latency.p99,
  answers: result["2xx"],
  failed: result.non2xx + result.errors + result.timeouts,
};
process.stdout.write(JSON.stringify(answered));
