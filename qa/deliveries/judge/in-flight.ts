import type { Case } from "./case.ts";
import type { Received, Trouble } from "./evidence.ts";

/** A request may have been sent a little before the receiver notices it. */
const UNDER_WAY_MS = 200;

/** Checks that requests never overlap. A request whose sender was suspended cannot be recalled, so it is counted and excused. */
export function judgeNeighbours({ requests, tenant, coverage, report }: Case): void {
  let open: Received | undefined;
  for (const request of requests) {
    if (open) coverage.neighbours += 1;
    if (open && open.ended > request.begun) {
      if (isStopped(open, request.begun, tenant.evidence.troubles)) coverage.excusedOverlaps += 1;
      else
        report(
          "overlap",
          `${request.name} began ${(open.ended - request.begun).toFixed(1)} ms before ${open.name} was over`,
        );
    }
    if (!open || request.ended > open.ended) open = request;
  }
}

/** Whether a sender was suspended between the start of this request and the next one. */
const isStopped = ({ begun, ended }: Received, next: number, troubles: readonly Trouble[]): boolean =>
  troubles.some(
    ({ what, from }) => what === "server stopped" && from >= begun - UNDER_WAY_MS && from <= Math.min(ended, next),
  );
