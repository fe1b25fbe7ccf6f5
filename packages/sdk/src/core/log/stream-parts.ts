import type { JsonObject } from "../../protocol/json.ts";
import type { LogEntry } from "../../protocol/log/log.ts";
import type { Part } from "../../protocol/stream/part-frames.ts";
import { type Draft, emit, set } from "../draft.ts";
import { utf8Length } from "../queue/serialized.ts";
import type { ClientState, ReplicaState } from "../state.ts";
import { isFollower } from "../tabs/is-follower.ts";
import { conditionsOn, isFollowed } from "./followed.ts";
import { partId } from "./part-id.ts";
import { isSameScope } from "./parts.ts";
import { changeReading } from "./reading-state.ts";
import { rowAfter } from "./row-after.ts";
import { type AddedParts, everything, type LogRange, type Rows, type Scope } from "./rows.ts";
import { partsToRead } from "./scope-to-read.ts";
import { changeTables, lookUp, recordKey } from "./tables.ts";

/*
 * While the stream is live, parts come and go on it, and it goes on for the others:
 *
 *   wanted ──subscribe──► asked ──subscribed──► read from a snapshot ──► in the rows
 *                                    │ what the stream says of it meanwhile is kept apart
 *   not wanted any more ──unsubscribe──► what the stream says of it is left out ──unsubscribed──► gone
 */

/** Bytes of parts as JSON: a `hello` may have 8 KiB, with the token. */
const HELLO_BYTES = 4_096;
/** A frame may have 5 000 JSON values. */
const FRAME_BYTES = 16_384;

/** The parts that a scope asks for. Two are one if they ask for the same. */
export function partsOf(scope: Scope, models: ClientState["models"]): readonly Part[] {
  const known = partsOfScopes.get(scope);
  if (known?.models === models) return known.parts;
  const parts = allParts(scope, models);
  partsOfScopes.set(scope, { models, parts });
  return parts;
}

const partsOfScopes = new WeakMap<Scope, { readonly models: ClientState["models"]; readonly parts: readonly Part[] }>();

const allParts = (scope: Scope, models: ClientState["models"]): readonly Part[] =>
  (scope.models ?? Object.keys(models)).flatMap((model) => {
    const wanted = conditionsOn(scope, model);
    const partOf = (where?: Part["where"]): Part => ({
      id: partId(model, where),
      model,
      ...(where && { where }),
    });
    return wanted ? [wanted].flat().map(partOf) : [partOf()];
  });

/** What the stream follows. Undefined: models and conditions, because the app names no parts. */
function streamParts(state: ClientState): readonly Part[] | undefined {
  const { rows, models } = state;
  const { scope: have = {} } = rows;
  if (!hasLists(have)) return undefined;
  const own = partsOf(have, models);
  const known = new Set(own.map(({ id }) => id));
  const read = partsToRead(state);
  const added = read ? partsOf(read, models) : [];
  return [...own, ...added.filter(({ id }) => !known.has(id)).map((part) => ({ ...part, since: null }))];
}

const hasLists = ({ where = {} }: Scope): boolean => Object.values(where).some(Array.isArray);

/** In pieces of at most so many bytes as JSON: the first one for a `hello`, the others for frames of their own. */
function inPieces(parts: readonly Part[], first: number = FRAME_BYTES): readonly (readonly Part[])[] {
  const pieces: Part[][] = [[]];
  let left = first;
  for (const part of parts) {
    const bytes = utf8Length(JSON.stringify(part)) + 1;
    if (bytes > left) {
      pieces.push([]);
      left = FRAME_BYTES;
    }
    left -= bytes;
    pieces.at(-1)?.push(part);
  }
  return pieces;
}

/** Whether the stream goes on while parts are read. */
export const isReadBeside = (state: ClientState): boolean =>
  state.reading.resync === "parts" &&
  !isFollower(state) &&
  (state.stream.phase === "closed" ? hasLists(state.rows.scope ?? {}) : state.subscribed !== undefined);

/** What is said in `hello` of parts, and whether there are more. */
export function beginParts(draft: Draft): { readonly parts: readonly Part[] | undefined; readonly more: boolean } {
  const all = streamParts(draft.state);
  const [parts, ...rest] = inPieces(all ?? [], HELLO_BYTES);
  const asked = idsOf(all?.filter(({ since }) => since === null) ?? []);
  const subscribed = all && { parts: idsOf(all), asked, leaving: NONE, rest, wanted: undefined };
  set<ReplicaState>(draft, { subscribed });
  const read = all && partsToRead(draft.state);
  if (read) readBeside(draft, read);
  return { parts: all && parts, more: rest.length > 0 };
}

/** A new stream is opened, which has been told of none. */
export const forgetSubscribed = (draft: Draft): void => set<ReplicaState>(draft, { subscribed: undefined });

/** The stream is welcome, and waits for the rest of the parts. */
export function nameRest(draft: Draft): void {
  const { subscribed } = draft.state;
  if (!subscribed) return;
  const { rest } = subscribed;
  for (const [at, parts] of rest.entries())
    emit(draft, { do: "sendFrame", frame: { frame: "subscribe", parts: [...parts], more: at < rest.length - 1 } });
  set<ReplicaState>(draft, { subscribed: { ...subscribed, rest: [] } });
}

const NONE: ReadonlySet<string> = new Set();
const idsOf = (parts: readonly Part[]): ReadonlySet<string> => new Set(parts.map(({ id }) => id));
const without = (ids: ReadonlySet<string>, gone: readonly string[]): ReadonlySet<string> =>
  new Set([...ids].filter((id) => !gone.includes(id)));

/** Begins to keep apart what the stream says of the parts that are read, from where the rows are. */
function readBeside(draft: Draft, read: Scope): void {
  const { reading, rows } = draft.state;
  if (reading.added && isSameScope(reading.added.scope, read)) return;
  changeReading(draft, { added: { scope: read, from: rows.position ?? 0, early: new Map() } });
}

/** Lets the live stream follow the parts of the rows and those that are read, and no others. */
export function keepParts(draft: Draft): void {
  const { stream, subscribed, rows, models } = draft.state;
  if (stream.phase !== "live" || !subscribed) return;
  const { parts: known } = subscribed;
  const read = isFollower(draft.state) ? undefined : partsToRead(draft.state);
  // The same parts may be wanted again within a step, when what was kept of them is gone already.
  if (read) readBeside(draft, read);
  const scopes = [rows.scope ?? everything, ...(read ? [read] : [])];
  // In most steps nothing has changed.
  if (scopes.every((scope, at) => scope === subscribed.wanted?.[at]) && scopes.length === subscribed.wanted?.length)
    return;
  const wanted = new Map(scopes.flatMap((scope) => partsFor(scope, models)));
  // A part that is being left comes again once it is left: its answers could not be told apart.
  const added = [...wanted.values()].filter(({ id }) => !known.has(id) && !subscribed.leaving.has(id));
  const left = [...known].filter((id) => !wanted.has(id));
  const parts = new Set([...without(known, left), ...idsOf(added)]);
  const asked = new Set([...without(subscribed.asked, left), ...idsOf(added)]);
  const leaving = new Set([...subscribed.leaving, ...left]);
  set<ReplicaState>(draft, { subscribed: { ...subscribed, parts, asked, leaving, wanted: scopes } });
  if (left.length > 0) emit(draft, { do: "sendFrame", frame: { frame: "unsubscribe", ids: left } });
  if (added.length === 0) return;
  for (const parts of inPieces(added))
    emit(draft, { do: "sendFrame", frame: { frame: "subscribe", parts: [...parts] } });
}

const partsFor = (scope: Scope, models: ClientState["models"]) =>
  partsOf(scope, models).map((part) => [part.id, part] as const);

/** The stream has said from where it has a part, or why it does not: then reading it says the same. */
export function onPartAnswered(draft: Draft, id: string, position: number): void {
  const { reading, subscribed } = draft.state;
  if (!subscribed || subscribed.leaving.has(id)) return;
  const { added } = reading;
  set<ReplicaState>(draft, { subscribed: { ...subscribed, asked: without(subscribed.asked, [id]) } });
  if (added) changeReading(draft, { added: { ...added, from: Math.max(added.from, position) } });
}

export function onPartsLeft(draft: Draft, ids: readonly string[]): void {
  const { subscribed } = draft.state;
  if (!subscribed) return;
  const leaving = without(subscribed.leaving, ids);
  set<ReplicaState>(draft, { subscribed: { ...subscribed, leaving, wanted: undefined } });
}

/** Whether the missing parts can be read now: the stream has them, and has said from where. Before a hello, it will. */
export function isAnswered(state: ClientState): boolean {
  const { stream, subscribed, reading, models } = state;
  if (stream.phase === "closed" || !subscribed) return true;
  const read = reading.added && partsOf(reading.added.scope, models);
  return read?.every(({ id }) => subscribed.parts.has(id) && !subscribed.asked.has(id)) ?? false;
}

const isMixed = ({ stream, subscribed, reading }: ClientState): boolean =>
  stream.phase === "live" && subscribed !== undefined && (reading.resync === "parts" || subscribed.leaving.size > 0);

/**
 * What a range says of the rows' own parts. Entries that concern only parts that are being read are kept apart, and
 * those of parts that have just been left are not. For the rows, such a record has left.
 */
export function ownRange(draft: Draft, range: LogRange, isWide: boolean): LogRange {
  const { state } = draft;
  if (!isMixed(state) && !isWide) return range;
  const { rows, reading, models } = state;
  const { scope: have = {} } = rows;
  const read = reading.added?.scope;
  const early = new Map(reading.added?.early);
  const entries = range.entries.map((entry) => {
    const { syncId } = entry;
    if (syncId <= (rows.position ?? 0)) return entry;
    const data = entry.data as JsonObject | null;
    const isOwn = data !== null && isFollowed(have, models, entry, data);
    const isRead = read && data !== null && !isOwn && isFollowed(read, models, entry, data);
    const key = recordKey(entry);
    const value = isRead ? rowAfter(early.get(key)?.value ?? lookUp(rows.tables, entry), entry) : undefined;
    early.set(key, { record: { model: entry.model, id: entry.id }, syncId, value });
    return data === null || isOwn ? entry : leftOf(entry);
  });
  if (reading.added) changeReading(draft, { added: { ...reading.added, early } });
  return { ...range, entries };
}

const leftOf = (entry: LogEntry): LogEntry => ({
  ...entry,
  verb: "deleted",
  data: null,
  changedFields: null,
  left: true,
});

/** The rows of parts, as a snapshot and the stream have them together. */
export function withEarly(tables: Rows["tables"], added: AddedParts | undefined): Rows["tables"] {
  const newer = [...(added?.early.values() ?? [])].filter(
    ({ record, syncId }) => (lookUp(tables, record)?.syncId ?? -1) < syncId,
  );
  return changeTables(tables, newer);
}
