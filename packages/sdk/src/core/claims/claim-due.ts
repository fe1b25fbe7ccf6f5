import { isDue } from "../connection/retry.ts";
import { isOutstanding } from "./claim-grant.ts";
import { loseClaim, notifyGranted, onReleased, WAITER_CHECK_MS } from "./claim-moves.ts";
import { neededRequest, request, wantsQueue } from "./claim-request.ts";
import type { ClaimDraft, ConnectionState, Hold, HoldStage, Holds, Instant } from "./claim-state.ts";
import { deadlineOf, isOver, renewAt } from "./lease-time.ts";

/** Runs last in every step: ends leases that are over, and starts the requests that are due. */
export function claimsDue(draft: ClaimDraft): void {
  for (const [key, hold] of draft.holds) {
    const { stage } = hold;
    if (stage.phase === "held" && isOver(stage, draft)) {
      if (hold.flight) draft.effects.push({ do: "drop", key, n: hold.flight.n });
      loseClaim(draft, key, "deadline");
    } else if (stage.phase === "leaving" && draft.now.at >= stage.until) onReleased(draft, key);
  }
  handleUnreadGrants(draft);
  for (const [key, hold] of draft.holds) sendDueRequest(draft, key, hold);
}

/** When `claimsDue` should run again if no event arrives. */
export function claimsDueAt(holds: Holds, connection: ConnectionState, now: Instant): number | undefined {
  const times: (number | undefined)[] = [];
  for (const { stage, flight, wait } of holds.values()) {
    if (stage.phase === "held") times.push(deadlineOf(stage), stage.unread?.fetchAt, stage.unread?.until);
    if (stage.phase === "leaving") times.push(stage.until);
    if (!connection.canRequest) continue;
    if (flight && flight.what !== "poll") continue;
    if (wait && !isDue(wait, now.at)) times.push(wait.at);
    else if (stage.phase === "held") times.push(renewAt(stage));
    else if (stage.phase === "waiting" && connection.live) times.push(stage.checkAt);
  }
  const due = times.filter((at) => at !== undefined && at > now.at) as number[];
  return due.length > 0 ? Math.min(...due) : undefined;
}

/** Notifies the app of grants that the rows have reached, and requests a log read for the others. */
function handleUnreadGrants(draft: ClaimDraft): void {
  for (const [key, hold] of draft.holds) {
    if (hold.stage.phase !== "held" || !hold.stage.unread) continue;
    const { unread } = hold.stage;
    if (!isOutstanding(unread, draft)) notifyGranted(draft, key);
    else if (unread.fetchAt !== undefined && draft.now.at >= unread.fetchAt) {
      draft.holds.set(key, { ...hold, stage: { ...hold.stage, unread: { ...unread, fetchAt: undefined } } });
      draft.effects.push({ do: "readUpTo", syncId: unread.syncId });
    }
  }
}

function sendDueRequest(draft: ClaimDraft, key: string, hold: Hold): void {
  const { connection, now } = draft;
  const what = neededRequest(hold, connection, now);
  if (!connection.canRequest) {
    // Without a connection no response will arrive.
    if (hold.flight) {
      draft.effects.push({ do: "drop", key, n: hold.flight.n });
      draft.holds.set(key, { ...hold, flight: undefined });
    }
    return;
  }
  if (!what || !isDue(hold.wait, now.at)) return;
  if (hold.flight) {
    // Only a poll of a waiting claim may be overtaken: every other request changes something.
    if (hold.flight.what !== "poll" || what === "poll") return;
    draft.effects.push({ do: "drop", key, n: hold.flight.n });
  }
  const { stage } = hold;
  const claimId = stage.phase === "acquiring" ? undefined : stage.claimId;
  const n = request(draft, key, hold, what, claimId);
  const next: HoldStage =
    stage.phase === "acquiring"
      ? { ...stage, isSent: true }
      : stage.phase === "held"
        ? { ...stage, check: false }
        : stage.phase === "waiting"
          ? { ...stage, granted: false, checkAt: now.at + WAITER_CHECK_MS }
          : stage;
  draft.holds.set(key, { ...hold, stage: next, flight: { n, what, queue: wantsQueue(hold), sent: now } });
}
