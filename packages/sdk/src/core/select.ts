import type { Attribution } from "../protocol/commits/attribution-of.ts";
import { isPolling } from "./connection/is-polling.ts";
import { OWNER_UNKNOWN } from "./connection/owner-name.ts";
import { noRows } from "./log/rows.ts";
import type { Asks } from "./queue/asks.ts";
import { blockedNames } from "./queue/blocked.ts";
import { type MutationOperation, waitsForPerson } from "./queue/mutation.ts";
import { emptyQueue, inOrder, waitingWrites } from "./queue/queue.ts";
import type { ClientState, LostStore, StorageTrouble } from "./state.ts";

/** The selectors of a view. Each reads only the state. */

export type SyncStatus = {
  /**
   * - `starting`: the local store is being read.
   * - `connecting`, `online`, `offline` (no network), `paused` (by the app).
   * - `needs-auth`: the token was refused and the app gave no new one.
   * - `storage-failed`: writes cannot be queued durably.
   */
  readonly name: "starting" | "connecting" | "online" | "offline" | "paused" | "needs-auth" | "storage-failed";
  /**
   * Whether changes of others arrive as they happen. False while not online, and where no socket can be opened: then
   * the client reads the log every 5 s.
   */
  readonly live: boolean;
  /**
   * What the rows are:
   *
   * - `loading`: none have been read.
   * - `partial`: those of an earlier time, from the disk; the first pages of a snapshot; or the connection has ended.
   * - `complete`: everything that the server had when the connection began, and what it has told since.
   */
  readonly rows: "loading" | "partial" | "complete";
  /**
   * While the rows are not complete: when they were known last to be all that the server has (ms since 1970), also
   * before a reload. Undefined: never, or they are.
   */
  readonly rowsAt: number | undefined;
  /**
   * Whether this tab sends writes and reads the log for all tabs of the browser profile. False while another tab leads,
   * while this one is paused, and after the disk failed: then it sends only its own writes. A Node client does not
   * share its store, so it leads whenever it is not paused.
   */
  readonly leads: boolean;
  /** The number of unsettled writes. */
  readonly pending: number;
  readonly conflicts: number;
  readonly attention: number;
  /** When the oldest unsettled write was made (ms since 1970), or undefined. Use it to monitor the client's health. */
  readonly oldestPendingAt: number | undefined;
  /** The position in the log that this client's rows have reached. */
  readonly syncId: number;
  /** When the next attempt is due (ms since 1970), if one is waiting. */
  readonly retryAt: number | undefined;
  readonly reason: string | undefined;
  /**
   * Where writes are stored. `memory`: in Node without a file, or after the disk failed (`storageTrouble` gives the
   * kind). Writes in memory do not survive a reload.
   */
  readonly storage: "opening" | "disk" | "memory";
  readonly storageTrouble: StorageTrouble["code"] | undefined;
  /**
   * Whether the browser promised not to evict the store. The client asks with the first queued write. Safari evicts it
   * anyway if the site was not used for seven days.
   */
  readonly persisted: boolean | undefined;
  /** The previous store was cleared, by the browser or a person, together with its unsent writes. */
  readonly lostStore: LostStore | undefined;
  /** While a snapshot is being read: the number of rows received. Rows of a first snapshot are shown as they arrive. */
  readonly loadedRows: number | undefined;
  /**
   * The app's models that the token may not read, or that the server's schema does not contain (yet). Their rows are
   * not shown.
   */
  readonly unreadable: readonly string[];
};

/** The state as the app may see it: without the store's data if the token belongs to another owner. */
export function shownState(state: ClientState): ClientState {
  if (!state.withheld) return state;
  const { logId, position } = state.rows;
  return { ...state, rows: { ...noRows, logId, position }, overlay: {}, queue: emptyQueue };
}

export function statusOf(state: ClientState): SyncStatus {
  const { queue, rows, auth, trouble, storageTrouble, inMemory, life, lead } = state;
  const { conflicts, attention } = waitingCounts(state);
  const name = nameOf(state);
  const known = rowsStatus(state);
  const leader = leaderConnection(state);
  const reason =
    auth.phase === "refused" ? auth.reason : name === "paused" ? undefined : leader ? leader.reason : trouble;
  return {
    name,
    live: name === "online" && (leader ? leader.live : !isPolling(state)),
    rows: known,
    rowsAt: known === "complete" ? undefined : rows.at,
    // Without a disk the tab sends its own writes, but it does not lead the other tabs.
    leads: lead === "yes" && storageTrouble === undefined,
    pending: queue.order.length - queue.waiting.length,
    conflicts,
    attention,
    oldestPendingAt: oldestPendingAt(state),
    syncId: rows.position ?? 0,
    retryAt: retryAt(state),
    reason: state.withheld ? state.withheldReason : (storageTrouble?.reason ?? reason),
    storage: storageTrouble || inMemory ? "memory" : life === "starting" ? "opening" : "disk",
    storageTrouble: storageTrouble?.code,
    persisted: state.persisted,
    lostStore: state.lostStore,
    loadedRows: loadedRows(state),
    unreadable: state.unreadable,
  };
}

function loadedRows({ reading: { under, partial } }: ClientState): number | undefined {
  if (under !== "snapshot" && !partial) return undefined;
  return Object.values(partial?.tables ?? {}).reduce((sum, table) => sum + table.size, 0);
}

/** What the rows are. `beside`: or only what those of the parts are that have been read. */
export function rowsStatus(state: ClientState, beside: "parts" | "no" = "no"): SyncStatus["rows"] {
  const { life, withheld, rows, reading, stream } = state;
  if (life === "starting" || withheld) return "loading";
  if (rows.position === undefined) return reading.partial ? "partial" : "loading";
  const leader = leaderConnection(state);
  // A stream that has just ended counts as online for a moment, but may have missed something.
  const isHeard = leader
    ? !leader.isBehind
    : isPolling(state) || (stream.phase === "live" && rows.position >= (stream.upTo ?? 0));
  const hasAll = reading.missing === undefined && (reading.resync === "no" || reading.resync === beside);
  // Without a disk the tab goes on in memory.
  return nameOf(state, false) === "online" && isHeard && hasAll ? "complete" : "partial";
}

/** A follower's knowledge of the leader's connection. */
const leaderConnection = ({ lead, stream, tabs }: ClientState) =>
  lead === "no" && stream.phase !== "live" ? tabs.connection : undefined;

function retryAt(state: ClientState): number | undefined {
  const { paused, network, auth, queue, sending, reading, stream } = state;
  if (paused || !network) return undefined;
  if (auth.phase === "refused") return auth.wait.at;
  const leader = leaderConnection(state);
  if (leader) return leader.retryAt;
  const write = queue.order.length > queue.waiting.length ? sending.wait?.at : undefined;
  return write ?? reading.wait?.at ?? (stream.phase === "closed" ? stream.wait?.at : undefined);
}

function nameOf(state: ClientState, isDiskLost = state.storageTrouble !== undefined): SyncStatus["name"] {
  const { life, paused, auth, network, stream, rows, reading, withheld, choosing } = state;
  if (life === "starting") return choosing ?? "starting";
  if (withheld && state.withheldReason !== OWNER_UNKNOWN) return "needs-auth";
  if (isDiskLost) return "storage-failed";
  if (paused) return "paused";
  if (!network) return "offline";
  if (auth.phase === "refused" && !auth.unreachable) return "needs-auth";
  const leader = leaderConnection(state);
  if (rows.position === undefined) return leader?.name === "needs-auth" ? leader.name : "connecting";
  if (leader) return withheld ? "connecting" : leader.name;
  const isLive = stream.phase === "live" || stream.missedAt !== undefined;
  return isLive || (isPolling(state) && reading.verified && !reading.wait) ? "online" : "connecting";
}

function oldestPendingAt({ queue }: ClientState): number | undefined {
  if (queue.order.length === queue.waiting.length) return undefined;
  for (const write of inOrder(queue)) if (!waitsForPerson(write)) return write.createdAt;
  return undefined;
}

function waitingCounts(state: ClientState): { conflicts: number; attention: number } {
  let conflicts = 0;
  let attention = 0;
  for (const { stage } of waitingWrites(state.queue)) {
    if (stage.phase === "conflicted") conflicts += stage.notifications.length;
    else attention += 1;
  }
  return { conflicts, attention };
}

export interface Pending {
  readonly clientTxId: string;
  readonly phase: "saving" | "queued" | "sending" | "confirmed" | "blocked";
  readonly operations: readonly MutationOperation[];
  readonly attribution?: Attribution;
  readonly asks?: Asks;
  readonly createdAt: number;
  readonly attempts: number;
}

export function pendingOf(state: ClientState): readonly Pending[] {
  const { queue } = state;
  const blocked = blockedNames(state);
  const pending: Pending[] = [];
  for (const { clientTxId, stage, operations, attribution, asks, createdAt, attempts } of inOrder(queue)) {
    if (stage.phase === "conflicted" || stage.phase === "rejected") continue;
    const phase = blocked.has(clientTxId) ? "blocked" : stage.phase;
    pending.push({
      ...{ clientTxId, phase, operations, ...(attribution && { attribution }), ...(asks && { asks }) },
      ...{ createdAt, attempts },
    });
  }
  return pending;
}

/** Whether a write still proceeds by itself: it is not settled and does not wait for a person. */
export function isOnItsWay(state: ClientState, clientTxId: string, blocked: ReadonlySet<string>): boolean {
  const write = state.queue.byTxId.get(clientTxId);
  return write !== undefined && !waitsForPerson(write) && !blocked.has(clientTxId);
}
