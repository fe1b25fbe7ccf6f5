import type { CommitReceipt } from "../protocol/commit.ts";
import { requeue } from "./answers.ts";
import type { ClientEvent } from "./events.ts";
import { type Mutation, type Place, placesOf, waitsForPerson } from "./mutation.ts";
import { changed, find, inOrder, removed } from "./queue.ts";
import { hearStretch, replaceRows } from "./reading.ts";
import { offerAgain, outnamed } from "./rebase.ts";
import type { LogRow, Rows } from "./rows.ts";
import { followed } from "./scope.ts";
import { statusOf } from "./select.ts";
import { settle } from "./settle.ts";
import type { ClientState } from "./state.ts";
import type { LeaderLine, TabMessage } from "./tab-message.ts";
import { changeTables, lookUp } from "./tables.ts";
import { ask, keep, set, type Turn, touch } from "./turn.ts";
import { arrived, persisted } from "./writes.ts";

/*
 * One tab of a browser profile leads: it alone sends, reads the log and keeps on disk what comes of that. The others
 * put their writes on disk, and hear from it what it hears.
 *
 *    no ──lock──► reading ──generation, queue──► yes ──stolen · the store says so · paused──► no
 */

type Of<T extends ClientEvent["type"]> = Extract<ClientEvent, { type: T }>;

/** How long a tab may take to put on disk what it said it would, before the disk is looked at. */
const COMING_MS = 2_000;

export const isFollower = ({ lead, storageTrouble }: ClientState): boolean =>
  lead === "no" && storageTrouble === undefined;

/** Is in line for the lead. */
export function stand(turn: Turn): void {
  if (turn.state.storageTrouble === undefined) ask(turn, { do: "stand", wanted: true });
  else leads(turn);
}

/** The disk cannot be had: this tab shares nothing with the others any more, sends for itself, and lets another one lead. */
export function standAlone(turn: Turn): void {
  ask(turn, { do: "stand", wanted: false });
  if (!turn.state.paused) leads(turn);
}

export function leads(turn: Turn): void {
  // Whatever lies before a place that is known by now is on disk already, and will be found.
  set(turn, { lead: "reading", tabs: { ...turn.state.tabs, askedAt: turn.state.queue.lastSeq } });
  ask(turn, { do: "takeLead" });
}

export function tookLead(turn: Turn, { generation, mutations }: Of<"tookLead">): void {
  if (turn.state.lead === "no") return;
  const { tabs, generation: ledBefore } = turn.state;
  set(turn, {
    lead: "yes",
    generation,
    tabs: { ...tabs, line: undefined, coming: [], lookAt: undefined },
  });
  const left = new Set([...tabs.left, ...outnamed(mutations)]);
  const { queue: before } = turn.state;
  const there = mutations.filter((m) => !left.has(m.clientTxId));
  const unknown = there.filter((m) => !find(before, m.clientTxId));
  arrived(turn, there);
  // Places were given since that nobody has told of.
  if (isMissing(turn, Math.max(tabs.askedAt, ...mutations.map((m) => m.seq ?? 0)))) leads(turn);
  // Whoever put them on disk was killed before it could say so, or is about to.
  if (tabs.listening && unknown.length > 0) post(turn, { type: "arrived", mutations: unknown });
  // What was heard until now is on disk, or was kept there by nobody.
  const { queue, rows } = turn.state;
  const settled = placesOf(mutations.filter((m) => left.has(m.clientTxId)));
  const { logId, position } = rows;
  if (logId !== undefined && position !== undefined)
    ask(turn, { do: "keepRows", logId, from: position, to: position, changes: [], settled, generation });
  // What this tab heard of them while it followed may not have reached the disk before the other one went.
  keep(
    turn,
    [...inOrder(queue)].filter((m) => waitsForPerson(m) || m.lost),
  );
  if (rows.position !== undefined) offerAgain(turn, rows, "strays");
  if (ledBefore === undefined) post(turn, { type: "leading" });
  else if (tabs.listening && turn.state.lead === "yes") tellQueue(turn);
}

/** What this tab has put on disk. What is over already the others would wait for, under whichever name they know it. */
export function heardPersisted(turn: Turn, places: readonly Place[]): void {
  const { lastSeq } = turn.state.queue;
  const isOver = places.some((place) => !find(turn.state.queue, place.clientTxId));
  persisted(turn, places);
  // Only whoever knows every place may say what is over.
  if (isOver && turn.state.lead === "yes" && turn.state.tabs.listening && !isMissing(turn, lastSeq)) tellQueue(turn);
}

/** Another tab has put these on disk. What comes late may be over by now: the tab that leads is asked. */
export function heardArrived(turn: Turn, mutations: readonly Mutation[]): void {
  const { queue } = turn.state;
  const late = mutations.filter((m) => (m.seq ?? 0) <= queue.lastSeq && !find(queue, m.clientTxId));
  arrived(turn, mutations);
  if (!isFollower(turn.state)) return;
  settle(turn);
  if (late.length > 0) post(turn, { type: "joined" });
}

/** A place was given that this tab has not heard of: what lies there may have to go before what it knows. */
export function lookForMissed(turn: Turn, before: ClientState): void {
  if (turn.state.lead === "yes" && before.lead === "yes" && isMissing(turn, before.queue.lastSeq)) leads(turn);
}

function isMissing({ state: { queue } }: Turn, after: number): boolean {
  if (queue.lastSeq <= after + 1) return false;
  const places = new Set([...inOrder(queue)].map((m) => m.seq));
  for (let seq = after + 1; seq < queue.lastSeq; seq++) if (!places.has(seq)) return true;
  return false;
}

/** Another tab leads by now. What this one sent may have been taken or not: it is the other's to find out. */
export function deposed(turn: Turn, generation?: number): void {
  if (generation !== undefined && generation !== turn.state.generation) return;
  // Without a disk it sends for itself, whoever leads the others.
  if (turn.state.storageTrouble !== undefined) return;
  stepDown(turn);
  ask(turn, { do: "stand", wanted: !turn.state.paused });
}

export function stepDown(turn: Turn): void {
  const { sending, queue, lead } = turn.state;
  if (lead === "no") return;
  requeue(
    turn,
    (sending.names ?? []).map((name) => find(queue, name)),
  );
  set(turn, {
    lead: "no",
    generation: undefined,
    sending: { ...sending, names: undefined, request: sending.request + 1 },
  });
  ask(turn, { do: "abort" });
  // What the other one has said meanwhile was not heard as one who follows hears it.
  post(turn, { type: "joined" });
}

/** What the tab that leads hears of the log. */
export function heardLog(turn: Turn, { logId, from, to, entries }: Of<"log">): void {
  const { rows } = turn.state;
  if (!isFollower(turn.state) || rows.logId !== logId || rows.position === undefined) return;
  hearStretch(turn, { from, to, entries });
}

/** All rows on disk are others by now. */
export function heardOfRows(turn: Turn): void {
  if (isFollower(turn.state)) ask(turn, { do: "readRows" });
}

export function rowsRead(turn: Turn, { rows }: Of<"rowsRead">): void {
  const before = turn.state.rows;
  if (!isFollower(turn.state) || rows.position === undefined) return;
  const isSame = before.logId === rows.logId;
  const heard = isSame ? Math.max(before.position ?? 0, turn.state.reading.missing ?? 0) : 0;
  replaceRows(turn, isSame ? { ...rows, tables: newer(rows, before) } : rows);
  if (before.logId !== rows.logId) post(turn, { type: "joined" });
  if (heard > rows.position) set(turn, { reading: { ...turn.state.reading, missing: heard } });
}

/** The log was heard beyond what is on disk: what it said of a record last goes on being shown. */
function newer(rows: Rows, heard: Rows): Rows["tables"] {
  const later = Object.entries(heard.tables).flatMap(([model, table]) =>
    [...table.entries()]
      .filter(([id, row]) => row.syncId > (lookUp(rows.tables, { model, id })?.syncId ?? rows.position ?? 0))
      .map(([id, value]): { record: { model: string; id: string }; value: LogRow } => ({
        record: { model, id },
        value,
      })),
  );
  return changeTables(rows.tables, later);
}

export function heardLine(turn: Turn, { line }: Of<"line">): void {
  const { rows, reading } = turn.state;
  if (!isFollower(turn.state)) return;
  set(turn, { tabs: { ...turn.state.tabs, line } });
  followed(turn, line.scope);
  if (line.position === undefined) return;
  if (rows.logId !== line.logId || rows.position === undefined) return ask(turn, { do: "readRows" });
  if (line.position > rows.position)
    set(turn, { reading: { ...reading, missing: Math.max(reading.missing ?? 0, line.position) } });
}

/** A tab has come. The one that leads tells it how things stand, and from now on what it hears. */
export function joined(turn: Turn): void {
  set(turn, { tabs: { ...turn.state.tabs, listening: true } });
  if (turn.state.lead !== "yes") return;
  post(turn, { type: "line", line: lineOf(turn.state) });
  tellQueue(turn);
}

function tellQueue(turn: Turn): void {
  const { lastSeq } = turn.state.queue;
  const writes = [...inOrder(turn.state.queue)];
  const answered = writes.filter((m) => m.stage.phase === "confirmed" || waitsForPerson(m));
  const { logId } = turn.state.rows;
  // Rows that were read from the disk may be behind what was heard, and settled by, before.
  const heard = Math.max(turn.state.rows.position ?? 0, turn.state.reading.missing ?? 0);
  const position = turn.state.rows.position === undefined ? undefined : heard;
  const seqs = writes.map((m) => m.seq).filter((seq) => seq !== undefined);
  post(turn, { type: "queue", seqs, answered, lastSeq, logId, position });
}

/** What became of writes while this tab did not listen: of those from then, the leading tab has settled all that it has no more. */
export function heardQueue(turn: Turn, told: Of<"queue">): void {
  if (!isFollower(turn.state)) return;
  const { seqs, answered, lastSeq, logId, position: lastSyncId } = told;
  const { queue } = turn.state;
  const there = new Set(seqs);
  const over = [...inOrder(queue)].filter(({ stage, seq = Number.POSITIVE_INFINITY }) => {
    if (there.has(seq) || stage.phase === "saving" || seq > lastSeq) return false;
    return stage.phase !== "confirmed" || stage.receipt.logId !== logId;
  });
  // They are shown until the rows here have read as far.
  const settled = over
    .filter((m) => !waitsForPerson(m))
    .map((m): Mutation => ({ ...m, stage: { phase: "confirmed", receipt: receiptOf(m) } }));
  set(turn, { queue: { ...changed(queue, settled), lastSeq: Math.max(queue.lastSeq, lastSeq) } });
  const given = over.filter(waitsForPerson).map((m) => m.clientTxId);
  set(turn, { queue: removed(turn.state.queue, given) });
  touch(
    turn,
    over.flatMap((m) => m.keys),
  );
  for (const m of settled)
    ask(turn, { do: "tell", clientTxId: m.clientTxId, news: { kind: "confirmed", receipt: receiptOf(m) } });
  arrived(turn, answered);
  settle(turn);

  function receiptOf({ clientTxId, operations }: Mutation): CommitReceipt {
    const of = { clientTxId, serverTxId: "", ops: operations.length, lastSyncId: lastSyncId ?? 0, logId: logId ?? "" };
    return { object: "commit_receipt", success: true, status: "confirmed", ...of };
  }
}

/** Another tab leads from now on. */
export function heardOfLeader(turn: Turn): void {
  set(turn, { tabs: { ...turn.state.tabs, line: undefined } });
  post(turn, { type: "joined" });
}

/** Remembered until they arrive: the tab that is putting them on disk may be killed before it can say that they are there. */
export function writing(turn: Turn, clientTxIds: readonly string[]): void {
  const { tabs } = turn.state;
  set(turn, { tabs: { ...tabs, coming: [...tabs.coming, ...clientTxIds], lookAt: turn.now + COMING_MS } });
}

export function lookForComing(turn: Turn): void {
  const { tabs, lead, queue } = turn.state;
  if (tabs.lookAt === undefined || tabs.lookAt > turn.now) return;
  const isMissing = tabs.coming.some((name) => !find(queue, name));
  set(turn, { tabs: { ...tabs, coming: [], lookAt: undefined } });
  if (isMissing && lead === "yes") leads(turn);
}

/** Runs last: the others are told when anything changes in how the tab that leads stands with the server. */
export function tellLine(turn: Turn, before: ClientState): void {
  const { state } = turn;
  if (state.lead !== "yes" || !state.tabs.listening) return;
  const [now, then] = [lineOf(state), lineOf(before)];
  if (now.name !== then.name || now.reason !== then.reason || now.retryAt !== then.retryAt || before.lead !== "yes")
    post(turn, { type: "line", line: now });
}

function lineOf(state: ClientState): LeaderLine {
  const { name, reason, retryAt } = statusOf(state);
  const {
    rows: { logId, position },
    scope,
  } = state;
  const told = name === "online" || name === "offline" || name === "needs-auth" ? name : "connecting";
  return { name: told, reason, retryAt, logId, position, scope };
}

const post = (turn: Turn, message: TabMessage): void => ask(turn, { do: "post", message });
