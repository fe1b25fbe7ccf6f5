import { clientLimits as limits } from "../../protocol/client-limits.ts";
import { isPolling } from "../connection/is-polling.ts";
import { isDue } from "../connection/retry.ts";
import { type Draft, emit } from "../draft.ts";
import { hasToSend } from "../queue/has-to-send.ts";
import { isFollower } from "../tabs/is-follower.ts";
import { pageOf } from "./reading.ts";
import { changeReading } from "./reading-state.ts";
import { partsToRead, scopeToRead } from "./scope-to-read.ts";
import { changeParts } from "./snapshot.ts";
import { isAnswered } from "./stream-parts.ts";

const POLL_MS = 5_000;

/** Nothing has to be read for parts that only go. */
export function dropWithoutReading(draft: Draft): void {
  const { state } = draft;
  if (state.reading.resync === "parts" && !isFollower(state) && !partsToRead(state)) changeParts(draft, {}, {});
}

/** Reads what the rows lack, if it is due and nothing else is being read. */
export function readNext(draft: Draft): void {
  const { reading, rows, scope, stream, sending } = draft.state;
  if (reading.under !== "nothing" || !isDue(reading.wait, draft.now)) return;
  const follows = isFollower(draft.state);
  if (rows.position === undefined || reading.resync !== "no") {
    // The leader reads the rows for all tabs.
    if (follows) return;
    // The queue may be offered again after this read, so none of it may be in flight.
    if (sending.names && reading.resync === "suspect") return;
    if (reading.resync === "parts" && !isAnswered(draft.state)) return;
    changeReading(draft, { under: "snapshot" });
    const limit = pageOf(reading.share, limits.snapshotPage);
    const cursor = reading.partial?.cursor ?? null;
    return emit(draft, { do: "readSnapshot", cursor, scope: scopeToRead(draft.state), limit });
  }
  const poll = !follows && isPolling(draft.state);
  if (poll && reading.pollAt === undefined && reading.verified)
    return changeReading(draft, { pollAt: draft.now + POLL_MS });
  const due = reading.pollAt !== undefined && reading.pollAt <= draft.now;
  // The `welcome` frame would say the same, but the queue should not wait for a socket that may never open.
  const isUnknown = !reading.verified || draft.state.tokenOwner === undefined;
  const unverified = isUnknown && stream.phase !== "live" && hasToSend(draft.state);
  const first = poll && !reading.verified;
  if (reading.missing === undefined && !(poll && due) && !unverified && !first) return;
  const pollAt = poll ? draft.now + POLL_MS : undefined;
  changeReading(draft, { under: "log", pollAt, requested: reading.missing });
  const limit = pageOf(reading.share, limits.logPageMax);
  emit(draft, { do: "readLog", after: rows.position, scope, limit });
}
