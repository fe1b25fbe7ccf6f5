import type { Claim } from "../../protocol/claims/claim.ts";
import { clientLimits as limits } from "../../protocol/client-limits.ts";
import type { Json } from "../../protocol/json.ts";
import { jsonEqual } from "../../protocol/json-equal.ts";
import type { ClaimsFrame } from "../../protocol/stream/frames-down.ts";
import type { FrameUp } from "../../protocol/stream/frames-up.ts";
import { tableOf } from "../log/tables.ts";

/*
 * The holders of the records that the app shows. They are known only while a stream is open: the server sends the
 * claims of the watched records once, then every change.
 */

/** The known claims of one record. */
export interface KnownClaims {
  readonly claims: readonly Claim[];
  /** The participants in the claim queue, next one first. */
  readonly queue: readonly Claim[];
}

export interface WatchedModel {
  /** The model name as the app spells it. */
  readonly model: string;
  /** Record id → number of views that watch it; the latest ids come last. */
  readonly viewCounts: ReadonlyMap<string, number>;
  readonly known: ReadonlyMap<string, KnownClaims>;
  /** The ids that were sent to the server on the present connection, joined. */
  readonly sentIds: string | undefined;
  /** When to send the ids again. */
  readonly dueAt: number | undefined;
  /** When the server closed the connection because the token may not read the model. */
  readonly deniedAt: number | undefined;
}

/** By lower-case model name. */
export type Watched = ReadonlyMap<string, WatchedModel>;

/** Gathers requests, so that a page with a hundred records sends one frame. */
const GATHER_MS = 20;
/** A record that is no longer watched is often watched again soon. */
const LINGER_MS = 1_000;
const DENIED_MS = 60_000;
/** A character that ids cannot contain. */
const BETWEEN = "/";

export function watch(watched: Watched, model: string, ids: readonly string[], now: number): Watched {
  const before = watched.get(tableOf(model)) ?? {
    model,
    viewCounts: new Map<string, number>(),
    known: new Map(),
    sentIds: undefined,
    dueAt: undefined,
    deniedAt: undefined,
  };
  // The token may have changed meanwhile. Do not try with every view that opens, because each refusal closes the
  // connection.
  const deniedAt = before.deniedAt !== undefined && now - before.deniedAt > DENIED_MS ? undefined : before.deniedAt;
  const viewCounts = new Map(before.viewCounts);
  for (const id of ids) viewCounts.set(id, (viewCounts.get(id) ?? 0) + 1);
  return withModel(watched, { ...before, viewCounts, deniedAt, dueAt: sooner(before.dueAt, now + GATHER_MS) });
}

export function unwatch(watched: Watched, model: string, ids: readonly string[], now: number): Watched {
  const before = watched.get(tableOf(model));
  if (!before) return watched;
  const viewCounts = new Map(before.viewCounts);
  for (const id of ids) {
    const count = (viewCounts.get(id) ?? 0) - 1;
    if (count > 0) viewCounts.set(id, count);
    else viewCounts.delete(id);
  }
  return withModel(watched, { ...before, viewCounts, dueAt: sooner(before.dueAt, now + LINGER_MS) });
}

/** The connection is lost, so the known claims are dropped: without news, no record may be shown as free. */
export function withoutKnown(watched: Watched): Watched {
  return new Map(
    [...watched].map(([table, each]) => [table, { ...each, known: new Map(), sentIds: undefined, dueAt: undefined }]),
  );
}

export function withDenied(watched: Watched, model: string, now: number): Watched {
  const before = watched.get(tableOf(model));
  return before ? withModel(watched, { ...before, deniedAt: now }) : watched;
}

export function onClaimsFrame(watched: Watched, { model, id, claims, queue }: ClaimsFrame): Watched {
  const before = watched.get(tableOf(model));
  // The server sends each change once, also for a record that is watched again before the server was asked to stop.
  if (!before || !(before.viewCounts.has(id) || before.sentIds?.split(BETWEEN).includes(id))) return watched;
  // When the set of watched records changes, the server sends all of them again. Unchanged ones are not reported.
  const was = before.known.get(id);
  if (was && isSame(was.claims, claims) && isSame(was.queue, queue)) return watched;
  return withModel(watched, { ...before, known: new Map(before.known).set(id, { claims, queue }) });
}

/** The frames that are due on an open connection. */
export function watchDue(watched: Watched, now: number): { watched: Watched; frames: FrameUp[] } {
  let next = watched;
  const frames: FrameUp[] = [];
  for (const each of watched.values()) {
    if (each.deniedAt !== undefined) continue;
    if (each.dueAt !== undefined ? each.dueAt > now : each.sentIds !== undefined || each.viewCounts.size === 0)
      continue;
    const ids = watchedIds(each);
    const sentIds = ids.join(BETWEEN);
    const known = new Map([...each.known].filter(([id]) => ids.includes(id)));
    if (sentIds !== (each.sentIds ?? "")) frames.push({ frame: "watch", model: each.model, ids: [...ids] });
    next = withModel(next, { ...each, known, sentIds, dueAt: undefined });
  }
  return { watched: next, frames };
}

export const watchDueAt = (watched: Watched): readonly (number | undefined)[] =>
  [...watched.values()].map(({ dueAt, deniedAt }) => (deniedAt === undefined ? dueAt : undefined));

export type Knowledge =
  | ({ readonly state: "known" } & KnownClaims)
  | { readonly state: "unknown"; readonly why: Ignorance };

/**
 * Why the claims of a record are unknown. `asking`: the response is pending; none arrives if the token cannot see the
 * record. `connection`: no stream is open. `too-many`: too many records of the model are watched, and this one is among the
 * oldest. `denied`: the token may not read the model.
 */
export type Ignorance = "not-watched" | "connection" | "asking" | "too-many" | "denied";

export function knowledgeOf(watched: Watched, live: boolean, model: string, id: string): Knowledge {
  const each = watched.get(tableOf(model));
  const known = each?.known.get(id);
  if (live && known && each?.viewCounts.has(id)) return { state: "known", ...known };
  if (!each?.viewCounts.has(id)) return { state: "unknown", why: "not-watched" };
  if (each.deniedAt !== undefined) return { state: "unknown", why: "denied" };
  if (!live) return { state: "unknown", why: "connection" };
  return { state: "unknown", why: watchedIds(each).includes(id) ? "asking" : "too-many" };
}

/** The server limits the watched records per model. If there are more, the most recently requested ones are watched. */
const watchedIds = ({ viewCounts }: WatchedModel): readonly string[] =>
  [...viewCounts.keys()].slice(-limits.watchedPerModel);

const isSame = (a: readonly Claim[], b: readonly Claim[]) => jsonEqual(a as unknown as Json, b as unknown as Json);

const withModel = (watched: Watched, each: WatchedModel): Watched => new Map(watched).set(tableOf(each.model), each);

const sooner = (a: number | undefined, b: number): number => (a === undefined ? b : Math.min(a, b));
