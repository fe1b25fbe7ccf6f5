import { createContext } from "react";
import { deepEqual } from "../equal.ts";
import { type AnyClient, type AnyRow, modelOf } from "../model-of.ts";
import { none } from "../none.ts";
import type { Snapshot } from "./dehydrate.ts";
import { stillClient } from "./inert-client.ts";

/** A page's snapshot, and that of the enclosing boundary. */
export interface Seed {
  readonly state: Snapshot;
  readonly outer: Seed | undefined;
}

export const SeedContext = createContext<Seed | undefined>(undefined);

/** Whether a snapshot contains this query, and the client's rows are not newer. */
export const isSeeded = (client: AnyClient, seed: Seed | undefined, model: string, query: Asked) =>
  answerTo(client, seed, model, query) !== undefined;

/** The list to show: the client's, or the snapshot's until the client has read as far. */
export function listNow(
  client: AnyClient,
  seed: Seed | undefined,
  model: string,
  query: object | undefined,
): readonly AnyRow[] {
  const answer = answerTo(client, seed, model, query);
  return answer ? overlaid(client, answer) : modelOf(client, model).list(query);
}

/** The number of records, in the same way. */
export function countNow(client: AnyClient, seed: Seed | undefined, model: string, query: object | undefined): number {
  const answer = answerTo(client, seed, model, query);
  return answer ? overlaid(client, answer).length : modelOf(client, model).count(query);
}

/** The record to show, in the same way. */
export function recordNow(client: AnyClient, seed: Seed | undefined, model: string, id: string): AnyRow | undefined {
  const isIt = (row: AnyRow) => row.id === id;
  const answer = find(client, seed, model, ({ rows }) => rows.some(isIt));
  return answer ? overlaid(client, answer).find(isIt) : modelOf(client, model).get(id);
}

type Asked = object | string | undefined;
type Answer = Snapshot["answers"][number];

function answerTo(client: AnyClient, seed: Seed | undefined, model: string, query: Asked = {}) {
  // Without undefined values, as in the JSON of the page.
  const said = seed && JSON.parse(JSON.stringify(query));
  return find(client, seed, model, (answer) => deepEqual(answer.query, said));
}

function find(client: AnyClient, seed: Seed | undefined, model: string, isIt: (answer: Answer) => boolean) {
  for (let each = seed; each; each = each.outer) {
    const found = hasReached(client, each.state)
      ? undefined
      : each.state.answers.find((answer) => answer.model === model && isIt(answer));
    if (found) return found;
  }
  return undefined;
}

const reachedBy = new WeakMap<Snapshot, AnyClient>();

/** Without this, an old store would be shown instead of the server's newer results. Once reached, it stays reached. */
function hasReached(client: AnyClient, snapshot: Snapshot): boolean {
  if (client === stillClient) return false;
  if (reachedBy.get(snapshot) !== client && client.status().syncId >= snapshot.syncId) reachedBy.set(snapshot, client);
  return reachedBy.get(snapshot) === client;
}

const overlays = new WeakMap<Answer, { now: unknown; pending: unknown; rows: readonly AnyRow[] }>();

/** The client's unsettled writes on top of a snapshot's rows. Returns the same array until something changes. */
function overlaid(client: AnyClient, answer: Answer): readonly AnyRow[] {
  const { model, query, rows } = answer;
  const pending = client.pending();
  if (pending.length === 0) return rows;
  const now = typeof query === "string" ? none : modelOf(client, model).list(query);
  const known = overlays.get(answer);
  if (known?.now === now && known.pending === pending) return known.rows;
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const operation of pending.flatMap((each) => each.operations)) {
    const { action, id, data } = operation;
    if (operation.model !== model) continue;
    const row = action === "create" ? now.find((each) => each.id === id) : byId.get(id);
    if (action === "delete" || action === "archive") byId.delete(id);
    else if (row) byId.set(id, { ...row, ...data });
  }
  const shown = [...byId.values()];
  overlays.set(answer, { now, pending, rows: shown });
  return shown;
}
