import type { Violation } from "../../support/report.ts";
import type { Case } from "./case.ts";
import { judgeArrivals, judgeNames, readBodies } from "./contents.ts";
import { judgeCursor } from "./cursor.ts";
import { type Evidence, isTest } from "./evidence.ts";
import { judgeNeighbours } from "./in-flight.ts";
import { modelsAfter, type PossibleState, tenantOf } from "./possible-states.ts";
import { judgeSignatures } from "./signatures.ts";
import { type Coverage, noCoverage, type ReportViolation, type ViolationKind } from "./violations.ts";

export interface Verdict {
  readonly violations: readonly Violation<ViolationKind>[];
  readonly coverage: Coverage;
}

/** Checks the received requests against the log and the rules of deliveries. A request with an unknown outcome is no violation. */
export function judgeDeliveries(evidence: Evidence): Verdict {
  const violations: Violation<ViolationKind>[] = [];
  const coverage = noCoverage();
  const tenant = tenantOf(evidence);
  const known = new Set(evidence.endpoints.map(({ id }) => id));
  for (const stray of evidence.strays) violations.push({ kind: "stray", message: `${stray} was asked for` });
  for (const { name, endpoint } of evidence.requests)
    if (!known.has(endpoint))
      violations.push({ kind: "foreign", message: `${name} came for ${endpoint}, which the run did not register` });
  for (const endpoint of evidence.endpoints) {
    const report: ReportViolation = (kind, message) =>
      void violations.push({ kind, message: `${endpoint.id}: ${message}` });
    const requests = evidence.requests
      .filter((request) => request.endpoint === endpoint.id)
      .sort((a, b) => a.begun - b.begun);
    judgeEndpoint({ endpoint, requests, tenant, coverage, report });
  }
  return { violations, coverage };
}

function judgeEndpoint(one: Case): void {
  const { requests, coverage } = one;
  coverage.requests += requests.length;
  coverage.tests += requests.filter(isTest).length;
  judgeNeighbours(one);
  judgeNames(one);
  judgeSignatures(one);
  const bodies = readBodies(one);
  const end = judgeCursor(one, bodies);
  judgeArrivals(one, bodies);
  judgeEnd(one, end);
}

/** At the end, enabled endpoints have no pending events, and the server reports the same cursor. */
function judgeEnd({ endpoint, tenant, report }: Case, possibleStates: readonly PossibleState[]): void {
  const { last, actions } = endpoint;
  if (!last) return;
  const positions = tenant.positions(modelsAfter(endpoint, actions.length));
  const reached = Math.max(...possibleStates.map(({ high }) => high));
  if (last.status === "enabled" && positions.beyond(reached) > 0)
    report("missing", `${positions.beyond(reached)} events behind ${reached} never came`);
  const stands = possibleStates.some(
    ({ low, high }) => last.cursor >= low && positions.before(last.cursor + 1) <= high,
  );
  if (!stands) report("status", `its cursor is ${last.cursor}; its deliveries end at ${reached}`);
}
