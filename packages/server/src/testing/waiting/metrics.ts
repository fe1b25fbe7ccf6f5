import { until } from "../../../../../scripts/testing/until.ts";
import type { Call } from "../app.ts";

/** One number that a server tells about itself. The server has to be started with `metricsLoopback`. */
export async function metricOf(call: Call, name: string): Promise<number> {
  const { status, text } = await call("GET", "/metrics", { token: null });
  const line = text.split("\n").find((one) => one.startsWith(`${name} `));
  if (line === undefined) throw new Error(`/metrics (${status}) does not tell ${name}.`);
  return Number(line.slice(name.length));
}

/** Counts the requests that a server receives from now on. Its own are left out. */
export async function countReceived(call: Call): Promise<{ reaches(count: number): Promise<void> }> {
  const name = "holdfast_requests_total";
  const before = await metricOf(call, name);
  let own = 0;
  return {
    async reaches(count) {
      await until(async () => {
        own++;
        return (await metricOf(call, name)) - before - own >= count;
      });
    },
  };
}
