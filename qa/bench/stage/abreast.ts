// Sends to several servers in turn, a moment each, and prints how many answers each gave in each of its moments. A machine
// that is now fast and now slow is so for all of them alike, which runs of some seconds after each other cannot say.
import type { LoadPlan } from "./load.ts";
import { createSender } from "./sender.ts";

/** The seconds of a plan are what each is given altogether. */
export type AbreastPlan = readonly LoadPlan[];

/** Per second, for each plan: one figure for each moment, and those of one place in the lists lie side by side. */
export type AbreastResult = readonly (readonly number[])[];

/** A sender that has waited for the others begins slowly: in half a second, a commit's share of the echo is a twentieth less. */
const MOMENT_MS = 2_000;
const WARM_MS = 4_000;

const plans = JSON.parse(process.argv[2] ?? "[]") as AbreastPlan;
const senders = await Promise.all(
  plans.map(({ url, connections, requests }) => createSender(url, connections, requests)),
);
const moments = Math.ceil((Math.max(...plans.map(({ seconds }) => seconds)) * 1_000) / MOMENT_MS);
const rates = plans.map((): number[] => []);

async function sendTo(i: number, ms: number): Promise<number> {
  const start = performance.now();
  const { answers, failed } = await (senders[i] as (typeof senders)[number]).send(() => performance.now() < start + ms);
  if (failed > 0) throw new Error(`${failed} of ${answers + failed} requests failed.`);
  return (answers * 1_000) / (performance.now() - start);
}

for (const i of plans.keys()) await sendTo(i, WARM_MS);
for (let n = 0; n < moments; n++) {
  const order = [...plans.keys()];
  for (const i of n % 2 === 0 ? order : order.toReversed()) rates[i]?.push(await sendTo(i, MOMENT_MS));
}
for (const sender of senders) sender.close();
process.stdout.write(JSON.stringify(rates satisfies AbreastResult));
