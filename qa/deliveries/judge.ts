import type { Case } from "./case.ts";
import { judgeArrivals, judgeNames, readBodies } from "./contents.ts";
import { judgeCursor } from "./cursor.ts";
import { type Evidence, isTest } from "./evidence.ts";
import { judgeNeighbours } from "./in-flight.ts";
import { modelsAfter, type PossibleState, tenantOf } from "./possible-states.ts";
import { judgeSignatures } from "./signatures.ts";
import { type Looked, nothingLooked, type Say, type Violation } from "./violations.ts";

export interface Verdict {
  readonly violations: readonly Violation[];
  readonly looked: Looked;
}

/** Holds what a receiver got against the log and what deliveries promise. Unknown outcomes are counted against nobody. */
export function judgeDeliveries(evidence: Evidence): Verdict {
  const violations: Violation[] = [];
  const looked = nothingLooked();
  const tenant = tenantOf(evidence);
  const known = new Set(evidence.endpoints.map(({ id }) => id));
  for (const stray of evidence.strays) violations.push({ kind: "stray", says: `${stray} was asked for` });
  for (const { name, endpoint } of evidence.requests)
    if (!known.has(endpoint))
      violations.push({ kind: "foreign", says: `${name} came for ${endpoint}, which nobody made` });
  for (const endpoint of evidence.endpoints) {
    const say: Say = (kind, says) => void violations.push({ kind, says: `${endpoint.id}: ${says}` });
    const requests = evidence.requests
      .filter((request) => request.endpoint === endpoint.id)
      .sort((a, b) => a.begun - b.begun);
    judgeEndpoint({ endpoint, requests, tenant, looked, say });
  }
  return { violations, looked };
}

function judgeEndpoint(one: Case): void {
  const { requests, looked } = one;
  looked.requests += requests.length;
  looked.tests += requests.filter(isTest).length;
  judgeNeighbours(one);
  judgeNames(one);
  judgeSignatures(one);
  const bodies = readBodies(one);
  const end = judgeCursor(one, bodies);
  judgeArrivals(one, bodies);
  judgeEnd(one, end);
}

/** In the end, nothing waits for an endpoint that is enabled, and the server says so. */
function judgeEnd({ endpoint, tenant, say }: Case, possibleStates: readonly PossibleState[]): void {
  const { last, actions } = endpoint;
  if (!last) return;
  const positions = tenant.positions(modelsAfter(endpoint, actions.length));
  const reached = Math.max(...possibleStates.map(({ high }) => high));
  if (last.status === "enabled" && positions.beyond(reached) > 0)
    say("missing", `${positions.beyond(reached)} events behind ${reached} never came`);
  const stands = possibleStates.some(
    ({ low, high }) => last.cursor >= low && positions.before(last.cursor + 1) <= high,
  );
  if (!stands) say("status", `its cursor is ${last.cursor}; its deliveries end at ${reached}`);
}
