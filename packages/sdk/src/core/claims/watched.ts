import type { Claim } from "../../protocol/claims/claim.ts";
import { clientLimits as limits } from "../../protocol/client-limits.ts";
import type { Json } from "../../protocol/json.ts";
import type { ClaimsFrame } from "../../protocol/stream/frames-down.ts";
import type { FrameUp } from "../../protocol/stream/frames-up.ts";
import { jsonEqual } from "../json-equal.ts";
import { tableOf } from "../log/tables.ts";

/* Who holds the records that the app looks at. What is known of them is known from an open stream and from nothing else. */

/** What is known of one record's claims. */
export interface KnownClaims {
  readonly claims: readonly Claim[];
  /** Those that wait, the next one first. */
  readonly queue: readonly Claim[];
}

export interface WatchedModel {
  /** As the app spells it. */
  readonly model: string;
  /** Record id → how many look at it; the latest come last. */
  readonly looking: ReadonlyMap<string, number>;
  readonly known: ReadonlyMap<string, KnownClaims>;
  /** What the server was asked for on the present line, joined. */
  readonly said: string | undefined;
  /** When it is asked for anew. */
  readonly dueAt: number | undefined;
  /** When the server closed the line because the token may not read the model. */
  readonly deniedAt: number | undefined;
}

/** By lower-case model name. */
export type Watched = ReadonlyMap<string, WatchedModel>;

/** So that a page which shows a hundred records asks for them once. */
const GATHER_MS = 20;
/** What nobody looks at any more is often looked at again in a moment. */
const LINGER_MS = 1_000;
const DENIED_MS = 60_000;
/** Stands in no id. */
const BETWEEN = "/";

export function watch(watched: Watched, model: string, ids: readonly string[], now: number): Watched {
  const before = watched.get(tableOf(model)) ?? {
    model,
    looking: new Map<string, number>(),
    known: new Map(),
    said: undefined,
    dueAt: undefined,
    deniedAt: undefined,
  };
  // Another token may have come. It is not tried with every view that opens: each time costs the line.
  const deniedAt = before.deniedAt !== undefined && now - before.deniedAt > DENIED_MS ? undefined : before.deniedAt;
  const looking = new Map(before.looking);
  for (const id of ids) looking.set(id, (looking.get(id) ?? 0) + 1);
  return changed(watched, { ...before, looking, deniedAt, dueAt: sooner(before.dueAt, now + GATHER_MS) });
}

export function unwatch(watched: Watched, model: string, ids: readonly string[], now: number): Watched {
  const before = watched.get(tableOf(model));
  if (!before) return watched;
  const looking = new Map(before.looking);
  for (const id of ids) {
    const count = (looking.get(id) ?? 0) - 1;
    if (count > 0) looking.set(id, count);
    else looking.delete(id);
  }
  return changed(watched, { ...before, looking, dueAt: sooner(before.dueAt, now + LINGER_MS) });
}

/** The line is gone, and with it what was known: nobody may be taken for free because nothing is heard. */
export function forgotten(watched: Watched): Watched {
  return new Map(
    [...watched].map(([table, each]) => [table, { ...each, known: new Map(), said: undefined, dueAt: undefined }]),
  );
}

export function denied(watched: Watched, model: string, now: number): Watched {
  const before = watched.get(tableOf(model));
  return before ? changed(watched, { ...before, deniedAt: now }) : watched;
}

export function onClaimsFrame(watched: Watched, { model, id, claims, queue }: ClaimsFrame): Watched {
  const before = watched.get(tableOf(model));
  // The server tells of each change once: also of what is looked at again before it is told to stop.
  if (!before || !(before.looking.has(id) || before.said?.split(BETWEEN).includes(id))) return watched;
  // Of all that is watched it tells again when the watching changes: what is as it was is no news.
  const was = before.known.get(id);
  if (was && isSame(was.claims, claims) && isSame(was.queue, queue)) return watched;
  return changed(watched, { ...before, known: new Map(before.known).set(id, { claims, queue }) });
}

/** What has to be said to the server by now, on an open line. */
export function sayWatched(watched: Watched, now: number): { watched: Watched; frames: FrameUp[] } {
  let next = watched;
  const frames: FrameUp[] = [];
  for (const each of watched.values()) {
    if (each.deniedAt !== undefined) continue;
    if (each.dueAt !== undefined ? each.dueAt > now : each.said !== undefined || each.looking.size === 0) continue;
    const ids = watchedIds(each);
    const said = ids.join(BETWEEN);
    const known = new Map([...each.known].filter(([id]) => ids.includes(id)));
    if (said !== (each.said ?? "")) frames.push({ frame: "watch", model: each.model, ids: [...ids] });
    next = changed(next, { ...each, known, said, dueAt: undefined });
  }
  return { watched: next, frames };
}

export const watchDueAt = (watched: Watched): readonly (number | undefined)[] =>
  [...watched.values()].map(({ dueAt, deniedAt }) => (deniedAt === undefined ? dueAt : undefined));

export type Knowledge =
  | ({ readonly state: "known" } & KnownClaims)
  | { readonly state: "unknown"; readonly why: Ignorance };

/**
 * `asking`: the answer is on its way; it stays away when the record is not there for this token. `line`: no stream is
 * open. `too-many`: others of the model were asked for later. `denied`: the token may not read the model.
 */
export type Ignorance = "not-watched" | "line" | "asking" | "too-many" | "denied";

export function knowledgeOf(watched: Watched, live: boolean, model: string, id: string): Knowledge {
  const each = watched.get(tableOf(model));
  const known = each?.known.get(id);
  if (live && known && each?.looking.has(id)) return { state: "known", ...known };
  if (!each?.looking.has(id)) return { state: "unknown", why: "not-watched" };
  if (each.deniedAt !== undefined) return { state: "unknown", why: "denied" };
  if (!live) return { state: "unknown", why: "line" };
  return { state: "unknown", why: watchedIds(each).includes(id) ? "asking" : "too-many" };
}

/** The server tells of so many records a model: of more, those that were asked for last. */
const watchedIds = ({ looking }: WatchedModel): readonly string[] => [...looking.keys()].slice(-limits.watchedPerModel);

const isSame = (a: readonly Claim[], b: readonly Claim[]) => jsonEqual(a as unknown as Json, b as unknown as Json);

const changed = (watched: Watched, each: WatchedModel): Watched => new Map(watched).set(tableOf(each.model), each);

const sooner = (a: number | undefined, b: number): number => (a === undefined ? b : Math.min(a, b));
