import { refOf, tableOf } from "../../core/log/tables.ts";
import type { SyncStatus } from "../../core/select.ts";
import type { ClientState } from "../../core/state.ts";
import type { Clock } from "../../engine/ports.ts";
import { odd } from "../../errors.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { Lazy } from "../lazy.ts";
import type { JoinedList } from "../relations/joined-list.ts";
import type { Joins } from "../relations/joins.ts";
import { type AnyQuery, COUNT_KEYS, type ListQuery, listQuery } from "./list-query.ts";
import { type Counts, LiveCounts } from "./live-counts.ts";
import { LiveList } from "./live-list.ts";
import { countedField } from "./query-error.ts";
import { queryKey } from "./query-key.ts";
import type { queryStatus } from "./query-status.ts";
import type { ShownRows } from "./shown-rows.ts";
import type { ValueIndexes } from "./value-indexes.ts";

/** The maximum size of all lists without a subscriber, in records. */
const UNHELD_RECORDS = 200_000;
/** The fixed size of a list or count, in records. */
const VIEW_WEIGHT = 100;
/** A list without a subscriber is dropped if it was not read for this long. */
const UNREAD_MS = 60_000;
/** How long a subscriber may batch changes before it reads its lists again. */
const GATHER_MS = 5_000;

/** What lists need only once there are rows, and so comes with the runtime. */
export interface LaterLists {
  readonly queryStatus: typeof queryStatus;
  readonly indexes: ValueIndexes;
}

type LiveView = LiveList | LiveCounts | JoinedList;

interface KeptView {
  readonly key: string;
  readonly view: LiveView;
  readAt: number;
  /** The number of changes when it was last read. */
  readAfter: number;
  /** Whether it was read while the rows were complete. */
  wasComplete?: boolean;
}

/**
 * Caches lists and updates them incrementally: a change costs as much as the records it touched.
 *
 * A subscriber is called after every change and then reads the lists that it shows. So a list that was read after the
 * last change, or the one before it, is in use and stays, however many there are. Other lists are dropped, least
 * recently read first, if they contain too many records or were not read for a minute.
 */
export class Lists {
  readonly #state: () => ClientState;
  readonly #clock: Clock;
  readonly #shown: ShownRows | undefined;
  readonly #joins: Lazy<Joins> | undefined;
  readonly #later: () => LaterLists | undefined;
  readonly #kept = new Map<string, KeptView>();
  readonly #byTable = new Map<string, Set<LiveView>>();
  #changes = 0;
  #erased: ClientState["erased"];
  #subscribers = 0;
  /** The records added since the last sweep, and the time of that sweep. */
  #added = 0;
  #sweptAt = 0;

  constructor(
    state: () => ClientState,
    clock: Clock,
    shown?: ShownRows,
    /** Undefined: the schema has no relations. */
    joins?: Lazy<Joins>,
    later: () => LaterLists | undefined = () => undefined,
  ) {
    this.#shown = shown;
    this.#joins = joins;
    this.#later = later;
    this.#state = state;
    this.#erased = state().erased;
    this.#clock = clock;
  }

  /** Counts a subscriber. Returns a function that ends the subscription. */
  subscribed(): () => void {
    this.#subscribers += 1;
    let held = 1;
    return () => {
      this.#subscribers -= held;
      held = 0;
    };
  }

  /** Called once after every step, before the subscribers. */
  note({ touched, erased }: ClientState): void {
    this.#changes += 1;
    if (this.#erased === erased) return this.#note(touched);
    this.#note(touched);
    this.#erased = erased;
    // A list that is read later would keep the values of erased records until then.
    for (const { view } of this.#kept.values()) view.read(this.#state());
    this.#later()?.indexes.refresh(this.#state());
  }

  #note(touched: ClientState["touched"]): void {
    if (this.#clock.monotonic() - this.#sweptAt > UNREAD_MS) this.#sweep();
    const joins = this.#joins?.now();
    const indexes = this.#later()?.indexes;
    if (touched === "everything") {
      indexes?.note();
      joins?.noteAll();
      for (const { view } of this.#kept.values()) view.note();
      return;
    }
    for (const key of touched) {
      const { model, id } = refOf(key);
      for (const view of this.#byTable.get(model) ?? []) view.note(id);
      joins?.note(model, id);
      indexes?.note(model, id);
    }
  }

  list(model: string, query: AnyQuery): readonly JsonObject[] {
    const key = `list ${queryKey(model, query)}`;
    const include = query?.include;
    const joins = include && this.#joins?.now();
    if (include && !joins) {
      this.compiled(model, query);
      // Until the code for them is loaded, lists that include records are empty.
      if (this.#joins) return NONE;
      throw odd("include", 'The schema has no relations to include: no field has "references".');
    }
    const records = this.#read<readonly JsonObject[]>(key, () => {
      const plain = new LiveList(this.compiled(model, query));
      return joins ? joins.open(model, plain, include) : plain;
    });
    return query.staleOk === false && !this.#hasBeenComplete(key, model, query) ? NONE : records;
  }

  /** What is known of the records of a query. */
  status(model: string, query: AnyQuery): SyncStatus["rows"] {
    // Throws for an invalid one. What shows a query reads it too, so that this finds it.
    this.list(model, query);
    return this.#later()?.queryStatus(this.#state(), model, query, this) ?? "loading";
  }

  /** How many records match, by their value of a field; `true`: all of them, under `true`. */
  counts(model: string, query: AnyQuery, field: string | true): Counts {
    return this.#read(`counts ${JSON.stringify(field)} ${queryKey(model, query)}`, () => {
      const counted = field === true ? undefined : countedField(model, this.#state().models[tableOf(model)], field);
      return new LiveCounts(this.compiled(model, query, COUNT_KEYS), field, counted?.type);
    });
  }

  #read<Answer>(key: string, make: () => LiveView & { read(state: ClientState): Answer }): Answer {
    const known = this.#kept.get(key);
    const kept = known ?? this.#keep(key, make());
    kept.readAt = this.#clock.monotonic();
    kept.readAfter = this.#changes;
    const answer = kept.view.read(this.#state()) as Answer;
    if (!known) this.#added += weightOf(kept);
    if (this.#added > UNHELD_RECORDS / 4) this.#sweep();
    return answer;
  }

  /** Once is enough: a list that was shown does not disappear when the connection ends. */
  #hasBeenComplete(key: string, model: string, query: AnyQuery): boolean {
    const kept: Pick<KeptView, "wasComplete"> = this.#kept.get(key) ?? {};
    kept.wasComplete ||= this.#later()?.queryStatus(this.#state(), model, query, this) === "complete";
    return kept.wasComplete;
  }

  /** Throws for an invalid query. */
  compiled(model: string, query: AnyQuery, keys?: typeof COUNT_KEYS): ListQuery {
    const schema = this.#state().models[tableOf(model)];
    return listQuery(model, query, schema, this.#shown, keys, (...asked) => this.#later()?.indexes.ids(...asked));
  }

  #keep(key: string, view: LiveView): KeptView {
    const { table } = view.query;
    const kept: KeptView = { key, view, readAt: 0, readAfter: 0 };
    this.#kept.set(key, kept);
    const views = this.#byTable.get(table) ?? new Set();
    this.#byTable.set(table, views.add(view));
    return kept;
  }

  #sweep(): void {
    this.#added = 0;
    this.#sweptAt = this.#clock.monotonic();
    const unheld = [...this.#kept.values()].filter((kept) => !this.#isHeld(kept)).sort((a, b) => b.readAt - a.readAt);
    let weight = 0;
    for (const kept of unheld) {
      weight += weightOf(kept);
      if (weight <= UNHELD_RECORDS && this.#sweptAt - kept.readAt <= UNREAD_MS) continue;
      this.#kept.delete(kept.key);
      this.#byTable.get(kept.view.query.table)?.delete(kept.view);
      if ("close" in kept.view) kept.view.close();
    }
  }

  #isHeld({ readAfter, readAt }: KeptView): boolean {
    if (this.#subscribers === 0) return false;
    return readAfter >= this.#changes - 1 || this.#sweptAt - readAt < GATHER_MS;
  }
}

const NONE: readonly never[] = [];

const weightOf = ({ view }: KeptView) => VIEW_WEIGHT + view.size;
