import type { Endpoint, Named, Received } from "./evidence.ts";
import { modelsAfter, type PossibleState, type Tenant } from "./possible-states.ts";
import { isTroubled } from "./troubles.ts";
import type { Coverage, ViolationKind } from "./violations.ts";

/** The longest delay before an end is noticed. An attempt that is early by less than this is no violation. */
const NOTICED_MS = 50;
const JITTER = 1.1;
/** The failure after which the batch is cut for the first time. */
const UNCUT = 3;

export type Fault = readonly [kind: ViolationKind, message: string];

/** The violations of a request, given a state of the sender. */
export function faultsOf(
  state: PossibleState,
  request: Received,
  named: Named,
  size: number,
  tenant: Tenant,
  coverage: Coverage,
): Fault[] {
  return [
    ...disabledFaults(state, tenant),
    ...revisionFaults(state, named),
    ...batchFaults(state, named, size, coverage),
    ...waitFaults(state, request, tenant, coverage),
  ];
}

function disabledFaults({ disabled, attempts }: PossibleState, { evidence }: Tenant): Fault[] {
  if (disabled) return [["silence", "comes after the endpoint was disabled, or removed"]];
  const most = evidence.times.schedule.length;
  return attempts >= most ? [["ninth", `comes after ${attempts} attempts from the same position`]] : [];
}

function revisionFaults({ revision: before, since }: PossibleState, { revision }: Named): Fault[] {
  if (before === undefined) return [];
  const good = { same: revision === before, "maybe raised": revision >= before, raised: revision > before }[since];
  return good ? [] : [["name", `has the revision ${revision}, after ${before} (${since})`]];
}

function batchFaults(
  { batch, limit, attempts, sure }: PossibleState,
  { to }: Named,
  size: number,
  coverage: Coverage,
): Fault[] {
  if (!batch) return size > limit ? [["grown", `has ${size} events, where ${limit} was the most`]] : [];
  if (to > batch.to)
    return [["grown", `goes to ${to}; the batch before it from the same position went to ${batch.to}`]];
  if (to < batch.to) coverage.shrunk += 1;
  const sizes = sizesFrom(batch.first);
  const good = sure ? sizes(attempts) === size : size <= batch.first && cutsOf(batch.first).includes(size);
  if (good) return [];
  return [
    ["cut", `has ${size} events, at attempt ${attempts + 1}${sure ? "" : " or later"} of a batch of ${batch.first}`],
  ];
}

/** The batch size after a number of failures. */
const sizesFrom = (first: number) => (failures: number) => {
  let size = first;
  for (let failed = UNCUT; failed <= failures; failed++) size = Math.ceil(size / 3);
  return size;
};

function cutsOf(first: number): number[] {
  const sizes = [first];
  while ((sizes.at(-1) as number) > 1) sizes.push(Math.ceil((sizes.at(-1) as number) / 3));
  return sizes;
}

function waitFaults(
  { failed, attempts, sure }: PossibleState,
  { arrived }: Received,
  { evidence }: Tenant,
  coverage: Coverage,
): Fault[] {
  if (!failed) return [];
  const { schedule, lateMs } = evidence.times;
  // An unseen attempt would make this a later one, with a longer wait.
  const delays = sure ? schedule.slice(attempts, attempts + 1) : schedule.slice(attempts);
  if (delays.length === 0) return [];
  const { retryAfterMs = 0 } = failed;
  const wanted = (delay: number) => Math.max(delay, Math.min(retryAfterMs, 2 * delay));
  const waited = arrived - failed.at;
  coverage.waits += 1;
  const least = Math.min(...delays.map(wanted));
  if (waited < least - NOTICED_MS) return [["early", `comes ${waited.toFixed()} ms after a failure, not ${least}`]];
  if (isTroubled(evidence.troubles, failed.at, arrived)) return [];
  coverage.waitsAbove += 1;
  const most = Math.max(...delays.map(wanted)) * JITTER + lateMs;
  return waited > most ? [["late", `comes ${waited.toFixed()} ms after a failure, not within ${most.toFixed()}`]] : [];
}

/** The unsubscribed positions within and before a range, which were skipped without a request. */
export function passedOver(
  state: PossibleState,
  { from, to }: Named,
  size: number,
  endpoint: Endpoint,
  tenant: Tenant,
): number {
  const before = tenant.positions(modelsAfter(endpoint, state.done)).before(from);
  return Math.max(0, to - Math.max(before, state.low)) - size;
}
