import type { Case } from "./case.ts";
import type { Received, Trouble } from "./evidence.ts";

/** One may have left a little before it is seen to begin. */
const UNDER_WAY_MS = 200;

/** Never two at a time. One whose sender was stopped in the middle of it cannot be called back: it is counted, not held against anybody. */
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

/** Whether a sender was stopped after this one began, and before the next one. */
const isStopped = ({ begun, ended }: Received, next: number, troubles: readonly Trouble[]): boolean =>
  troubles.some(
    ({ what, from }) => what === "server stopped" && from >= begun - UNDER_WAY_MS && from <= Math.min(ended, next),
  );
