import type { ClientState } from "../core/state.ts";
import { refOf, tableOf } from "../core/tables.ts";
import type { JsonObject } from "../protocol/json.ts";
import { type AnyQuery, listQuery } from "./list-query.ts";
import { LiveList } from "./live-list.ts";

/** Lists that were asked for are kept and mended, not computed anew: a change costs as much as the records it touched. */
const KEPT_LISTS = 200;

export class Lists {
  readonly #state: () => ClientState;
  readonly #lists = new Map<string, LiveList>();

  constructor(state: () => ClientState) {
    this.#state = state;
  }

  /** Called once after every step. */
  note({ touched }: ClientState): void {
    if (touched === "everything") {
      for (const list of this.#lists.values()) list.note();
      return;
    }
    for (const key of touched) {
      const { model, id } = refOf(key);
      for (const list of this.#lists.values()) if (list.query.table === model) list.note(id);
    }
  }

  list(model: string, query: AnyQuery): readonly JsonObject[] {
    const key = `${tableOf(model)} ${JSON.stringify(query, apart)}`;
    let list = this.#lists.get(key);
    // Taken out and put back: the map's order is the order of use, and the first is the one to drop.
    if (list) this.#lists.delete(key);
    else list = new LiveList(listQuery(model, query, this.#state().models[tableOf(model)]));
    this.#lists.set(key, list);
    if (this.#lists.size > KEPT_LISTS)
      for (const oldest of this.#lists.keys()) {
        this.#lists.delete(oldest);
        break;
      }
    return list.read(this.#state());
  }
}

/** What JSON would leave out or take for null: in no text of a record is a NUL. */
const apart = (_key: string, value: unknown): unknown =>
  value === undefined || (typeof value === "number" && !Number.isFinite(value)) ? `\0${value}` : value;
