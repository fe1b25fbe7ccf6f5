import { shownRow } from "../../core/conflicts/overlay.ts";
import { participantOf } from "../../core/connection/owner-name.ts";
import { lookUp, type RecordRef, recordKey } from "../../core/log/tables.ts";
import { onRecord } from "../../core/queue/queue.ts";
import { shownState } from "../../core/select.ts";
import type { ClientState } from "../../core/state.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { RowFacts } from "../../protocol/schema/row-types.ts";
import type { ShownRows } from "../lists/shown-rows.ts";

/*
 * What the server knows of a record (`$createdAt` …) is no part of its data: six more properties of 100 000 rows would
 * cost more memory than many rows themselves, and an app that copies a row would write them back. Objects get a prototype
 * with getters when the app is given them. A getter looks the facts up when they are first read, and then they stay: if
 * they change later, the next view of the record is another object, as for any other change. So an object that nothing
 * was read of keeps its identity when its write settles, and none ever says two things.
 */

const NAMES = ["$createdAt", "$createdBy", "$updatedAt", "$updatedBy", "$archivedAt", "$syncId"] as const;
/** On a copy: the object that it is a copy of. */
const BASE = Symbol("base");

export function rowFacts(getState: () => ClientState): ShownRows {
  const prototypes = new Map<string, object>();
  /** What has been read of an object. */
  const read = new WeakMap<JsonObject, RowFacts>();
  /** Until something was read, no row is shown in place of another, except of one that is frozen. */
  let wasRead = false;
  /** What is shown in place of a row's object. */
  const instead = new WeakMap<JsonObject, JsonObject>();

  function prototypeOf(model: string): object {
    const known = prototypes.get(model);
    if (known) return known;
    const getters = NAMES.map((name) => [
      name,
      {
        get(this: JsonObject & { [BASE]?: JsonObject }) {
          const base = this[BASE] ?? this;
          const facts = read.get(base) ?? factsOf(shownState(getState()), { model, id: base.id as string });
          if (facts) read.set(base, facts);
          wasRead = true;
          return facts?.[name];
        },
      },
    ]);
    // Libraries take an object with this constructor for a plain one.
    const made = Object.create(Object.prototype, {
      ...Object.fromEntries(getters),
      constructor: { value: Object },
    }) as object;
    prototypes.set(model, made);
    return made;
  }

  return {
    show(table, row) {
      if (!wasRead && Object.isExtensible(row.data)) return row;
      let data = instead.get(row.data) ?? row.data;
      const known = read.get(data);
      const now = known && factsOf(shownState(getState()), { model: table, id: data.id as string });
      const isOther = known && now && NAMES.some((name) => known[name] !== now[name]);
      // In development, one that was given before this code was loaded is frozen.
      if (isOther || (!Object.isExtensible(data) && Object.getPrototypeOf(data) !== prototypeOf(table))) {
        data = { ...data };
        instead.set(row.data, data);
      }
      return data === row.data ? row : { ...row, data };
    },
    give(table, data, base) {
      if (Object.isExtensible(data) && Object.getPrototypeOf(data) === Object.prototype) {
        if (base) Object.defineProperty(data, BASE, { value: base });
        Object.setPrototypeOf(data, prototypeOf(table));
      }
      return data;
    },
  };
}

/** The server's facts with this client's unsettled writes on top. Undefined: the record is not there. */
export function factsOf(state: ClientState, record: RecordRef): RowFacts | undefined {
  const shown = shownRow(state, record);
  if (!shown) return undefined;
  const row = lookUp(state.rows.tables, record);
  const key = recordKey(record);
  const writes = onRecord(state.queue, key);
  // As in the overlay: the row contains an echoed write, and those before it.
  const echoed = writes.map((write) => write.echoed.includes(key)).lastIndexOf(true);
  const own = writes
    .slice(echoed + 1)
    .filter(({ stage: { phase } }) => phase !== "rejected" && phase !== "conflicted")
    .map(({ createdAt }) => ({ atMs: createdAt, by: participantOf(state) }));
  const created = row ? { atMs: row.createdAtMs, by: row.createdBy } : own[0];
  const updated =
    own.at(-1) ?? (row && { atMs: row.updatedAtMs ?? row.createdAtMs, by: row.updatedBy ?? row.createdBy });
  return {
    $createdAt: timeOf(created?.atMs),
    $createdBy: created?.by,
    $updatedAt: timeOf(updated?.atMs),
    $updatedBy: updated?.by,
    $archivedAt: shown.archivedAt,
    $syncId: row?.syncId,
  };
}

const timeOf = (atMs = Number.NaN): string | undefined =>
  Number.isFinite(atMs) ? new Date(atMs).toISOString() : undefined;
