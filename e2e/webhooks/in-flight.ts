import type { Case } from "./case.ts";
import type { Received } from "./evidence.ts";
import { stoodStill } from "./troubles.ts";

/** Never two at a time. One whose sender stands still, or has just gone on, cannot be called back: it is counted, not held against anybody. */
export function judgeNeighbours({ requests, world, looked, say }: Case): void {
  let open: Received | undefined;
  for (const request of requests) {
    if (open) looked.neighbours += 1;
    if (open && open.ended > request.begun) {
      if (stoodStill(world.evidence.troubles, open.begun, request.begun)) looked.excusedOverlaps += 1;
      else
        say(
          "overlap",
          `${request.name} began ${(open.ended - request.begun).toFixed(1)} ms before ${open.name} was over`,
        );
    }
    if (!open || request.ended > open.ended) open = request;
  }
}
