import type { Case } from "./case.ts";
import { type Bodies, shortList } from "./contents.ts";
import { type Endpoint, isTest, type Named, type Received, readName } from "./evidence.ts";
import {
  fits,
  initialState,
  modelsAfter,
  moved,
  narrowed,
  type PossibleState,
  possible,
  sending,
  stayed,
  type Tenant,
} from "./possible-states.ts";
import { type Fault, faultsOf, passedOver } from "./rules.ts";
import { isTroubled, RACE_MS, SETTLE_MS, settledAt } from "./troubles.ts";
import { noCoverage } from "./violations.ts";

interface Flight {
  readonly request: Received;
  readonly from: readonly PossibleState[];
  /** When the next request began. */
  readonly next: number;
}

/** Follows the sender's cursor through all requests. Returns its possible states at the end. */
export function judgeCursor(one: Case, bodies: Bodies): readonly PossibleState[] {
  const { endpoint, requests, tenant, coverage, report } = one;
  const deliveries = requests.filter((request) => {
    if (isTest(request)) return false;
    if (readName(request.webhookId, endpoint.id)) return true;
    report("name", `${request.name} has the webhook-id ${request.webhookId}`);
    return false;
  });
  let possibleStates: readonly PossibleState[] = [initialState(endpoint)];
  let top = endpoint.cursor;
  let flights: readonly Flight[] = [];

  /** Handles the requests that have ended by this time. */
  const land = (time: number): void => {
    const ended = flights
      .filter(({ request }) => request.ended <= time)
      .sort((a, b) => a.request.ended - b.request.ended);
    flights = flights.filter(({ request }) => request.ended > time);
    for (const flight of ended) {
      const then = outcomesOf(flight, one);
      // Another request is in flight, so the outcome of this one may already be outdated.
      possibleStates = flights.length > 0 || flight.next < flight.request.ended ? [...possibleStates, ...then] : then;
    }
  };

  for (const [i, request] of deliveries.entries()) {
    land(request.begun);
    possibleStates = possible(possibleStates, endpoint, tenant, request.begun);
    const named = readName(request.webhookId, endpoint.id) as Named;
    const from = judgeRequest(possibleStates, request, named, bodies.get(request.name), one);
    if (request.outcome === "accepted") {
      coverage.accepted += 1;
      coverage.events += from.size;
      if (named.from <= top) coverage.repeats += 1;
      top = Math.max(top, named.to);
    } else coverage.failed += 1;
    possibleStates = from.possibleStates;
    flights = [
      ...flights,
      { request, from: possibleStates, next: deliveries[i + 1]?.begun ?? Number.POSITIVE_INFINITY },
    ];
  }
  land(Number.POSITIVE_INFINITY);
  return possible(possibleStates, endpoint, tenant, Number.POSITIVE_INFINITY);
}

/** Keeps the possible states that the request fits, and reports its violations in those. */
function judgeRequest(
  possibleStates: readonly PossibleState[],
  request: Received,
  named: Named,
  events: readonly number[] | undefined,
  { endpoint, tenant, coverage, report }: Case,
): { readonly possibleStates: readonly PossibleState[]; readonly size: number } {
  const positionsOf = (state: PossibleState) => tenant.positions(modelsAfter(endpoint, state.done));
  const rangeOf = (state: PossibleState) => positionsOf(state).within(named.from, named.to);
  const placed = possibleStates.filter((state) => fits(state, named, endpoint, tenant));
  if (placed.length === 0) {
    const last = possibleStates.at(-1) as PossibleState;
    const [kind, message] = misplaced(last, named, endpoint, tenant);
    report(kind, `${request.name} ${message}`);
    const { batch: _batch, failed: _failed, ...rest } = last;
    const found = { ...rest, low: named.from - 1, high: named.from - 1, attempts: 0, sure: false };
    const size = events?.length ?? rangeOf(found).length;
    return { possibleStates: [sending(found, named, size)], size };
  }
  const isWhole = (state: PossibleState) => events === undefined || String(rangeOf(state)) === String(events);
  const whole = placed.filter(isWhole);
  if (whole.length === 0) {
    const range = rangeOf(placed.at(-1) as PossibleState);
    const left = range.filter((position) => !events?.includes(position));
    if (left.length > 0)
      report("missing", `${request.name} leaves out ${shortList(left)} of ${named.from} to ${named.to}`);
    const more = events?.filter((position) => !range.includes(position)) ?? [];
    if (more.length > 0) report("foreign", `${request.name} carries ${shortList(more)}, which was not subscribed to`);
  }
  const judged = (whole.length > 0 ? whole : placed).map((state) => {
    const size = events?.length ?? rangeOf(state).length;
    const alone = !isTroubled(tenant.evidence.troubles, state.at, request.begun);
    const seen = alone ? state : { ...state, sure: false };
    return { state: seen, size, faults: faultsOf(seen, request, named, size, tenant, noCoverage()) };
  });
  const good = judged.filter(({ faults }) => faults.length === 0);
  if (good.length === 0)
    for (const [kind, message] of judged.at(-1)?.faults ?? [])
      report(kind, `${request.name} (${request.webhookId}) ${message}`);
  const kept = good.length > 0 ? good : judged;
  const [first] = kept as [(typeof judged)[number]];
  faultsOf(first.state, request, named, first.size, tenant, coverage);
  coverage.unsubscribed += passedOver(first.state, named, first.size, endpoint, tenant);
  if (first.state.attempts + 1 === tenant.evidence.times.schedule.length) coverage.exhausted += 1;
  return {
    possibleStates: kept.map(({ state, size }) => sending(narrowed(state, named, endpoint, tenant), named, size)),
    size: first.size,
  };
}

function misplaced({ low, high, done }: PossibleState, { from, to }: Named, endpoint: Endpoint, tenant: Tenant): Fault {
  const positions = tenant.positions(modelsAfter(endpoint, done));
  const next = positions.next(low);
  if (!positions.has(from)) return ["foreign", `begins with ${from}, which was not subscribed to`];
  if (!positions.has(to)) return ["foreign", `ends with ${to}, which was not subscribed to`];
  if (from <= low) return ["repeat", `comes from ${from} to ${to}; everything up to ${low} had been accepted`];
  return ["missing", `begins with ${from}, and the first one behind ${high} is ${next}`];
}

/** The possible states of the sender after a request. */
function outcomesOf({ request, from, next }: Flight, { endpoint, tenant }: Case): PossibleState[] {
  const { begun, ended, outcome } = request;
  const { troubles } = tenant.evidence;
  const isTroubledThen = isTroubled(troubles, begun, Math.min(next, ended + SETTLE_MS));
  const until = Math.min(next, ended + RACE_MS);
  /** Whether an action of the owner may have taken effect meanwhile. */
  const isRuled = ({ done }: PossibleState) =>
    endpoint.actions
      .slice(done)
      .some((action) => action.what !== "roll" && action.asked <= until && begun <= settledAt(action, troubles));
  return from.flatMap((state) => {
    const sure = outcome !== "unknown" && !isTroubledThen && !isRuled(state);
    if (outcome === "failed") return [stayed(state, request, sure)];
    const on = moved(state, ended);
    return sure ? [on] : [stayed(state, request, false), on];
  });
}
