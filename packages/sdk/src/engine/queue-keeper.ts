import type { WhichRows } from "../core/effects.ts";
import { asKept, type Mutation, type Put, type QueueChange, type Removed } from "../core/queue/mutation.ts";
import { find } from "../core/queue/queue.ts";
import { adapted, shownAs } from "../core/schema/upcast.ts";
import type { ClientState, QueueSnapshot } from "../core/state.ts";
import type { TabMessage } from "../core/tabs/tab-message.ts";
import type { Engine } from "./engine.ts";
import type { Kept, Seen, Storage, StoredQueue } from "./ports.ts";
import { fromStore } from "./stored-scope.ts";

/** What the keeper reads and which callbacks it notifies. */
export interface QueueKeeperDeps {
  state(): ClientState;
  /** Resolves when the work is done, or the disk has failed, which the core is told. */
  toDisk(work: () => Promise<void>): Promise<void>;
  dispatch: Engine["dispatch"];
  /** Sends a message to the other tabs. */
  post(message: TabMessage): void;
  /** Data of this tab is on disk. */
  saved(): void;
}

interface How {
  readonly put?: readonly Put[];
  readonly removed?: readonly Removed[];
}

/** Changes the queue on disk, and sends each change with its number to this tab and the others. */
export class QueueKeeper {
  readonly #storage: Storage;
  readonly #deps: QueueKeeperDeps;
  #saving: QueueChange[] = [];
  /** Writes whose slot is being given to a replacement. Whether they have ended is known only after that. */
  readonly #givenAway = new Set<string>();

  constructor(storage: Storage, deps: QueueKeeperDeps) {
    this.#storage = storage;
    this.#deps = deps;
  }

  /** Stores all changes of one moment in one transaction, in order. */
  persist(changes: readonly QueueChange[]): void {
    const isFirst = this.#saving.length === 0;
    this.#saving.push(...changes);
    if (isFirst) void this.#deps.toDisk(() => this.#save());
  }

  async #save(): Promise<void> {
    await Promise.resolve();
    const batch = this.#saving;
    this.#saving = [];
    const put = batch.flatMap((each) => each.put);
    const { lead, tabs } = this.#deps.state();
    if (put.length > 0 && (lead === "no" || tabs.listening))
      this.#deps.post({ type: "writing", clientTxIds: put.map(({ mutation }) => mutation.clientTxId) });
    const over = put.flatMap((each) => each.over?.clientTxId ?? []);
    for (const name of over) this.#givenAway.add(name);
    const { places, change } = await this.#storage.enqueue(batch);
    for (const name of over) this.#givenAway.delete(name);
    const done = batch.flatMap((each, i) => placed(each, places[i]) ?? []);
    this.#postStored(done, change);
    const refused = batch.filter((_, i) => places[i] === "refused");
    this.#deps.dispatch({ type: "persisted", done, refused, change });
    this.#deps.saved();
  }

  #postStored(done: readonly QueueChange[], change: number | undefined): void {
    const put = done.flatMap((each) => each.put);
    const { queue } = this.#deps.state();
    // A part may have been dropped while they were being stored: the leader stores what this tab has kept of its rows.
    const mutations = put.flatMap(({ mutation, over }) => {
      const { lost, archived } = find(queue, mutation.clientTxId) ?? mutation;
      return over ? [] : [lost ? { ...mutation, lost, archived } : mutation];
    });
    if (mutations.length > 0) this.#deps.post({ type: "arrived", mutations });
    if (change === undefined) return;
    const removed = done.flatMap(({ drop }) => drop);
    this.#deps.post({ type: "changed", change, put: put.filter(({ over }) => over), removed });
  }

  /** Resolves with false if another tab leads by now. */
  keep(mutations: readonly Mutation[], generation: number): Promise<boolean> {
    const put = mutations.filter((m) => m.seq !== undefined).map((mutation) => ({ mutation: asKept(mutation) }));
    return this.#change(generation, () => this.#storage.keep(mutations, generation), { put });
  }

  forget(removed: readonly Removed[], generation: number): void {
    void this.#change(generation, () => this.#storage.forget(removed, generation), { removed });
  }

  /** Makes a change that only the leader may make. If another tab leads by now, the core is notified. */
  async #change(generation: number, work: () => Promise<Kept | "fenced">, how: How): Promise<boolean> {
    let leads = true;
    await this.#deps.toDisk(async () => {
      const kept = await work();
      leads = kept !== "fenced";
      if (kept === "fenced") this.#deps.dispatch({ type: "fenced", generation });
      else this.publish(kept, how);
    });
    return leads;
  }

  publish({ change }: Kept, { put = [], removed = [] }: How): void {
    if (change === undefined) return;
    this.#deps.post({ type: "changed", change, put, removed });
    // This tab has applied the `put` of its own change already, and may have progressed since.
    this.#deps.dispatch({ type: "changed", change, put: [], removed });
  }

  takeLead(): void {
    void this.#deps.toDisk(async () => {
      const snapshot = asRead(await this.#storage.takeLead(this.#seen("further")));
      this.#deps.dispatch((state) => {
        const mutations = snapshot.mutations.map((m) => adapted(m, state));
        const converted = mutations.filter((m, i) => m !== snapshot.mutations[i]);
        return { type: "leadTaken", snapshot: { ...snapshot, mutations }, converted };
      });
    });
  }

  read(rows: WhichRows): void {
    void this.#deps.toDisk(async () => {
      const snapshot = asRead(await this.#storage.readQueue(this.#seen(rows)));
      this.#deps.dispatch((state) => {
        const mutations = snapshot.mutations.map((m) => shownAs(adapted(m, state), m));
        return { type: "queueRead", snapshot: { ...snapshot, mutations }, rows };
      });
    });
  }

  #seen(rows: WhichRows): Seen {
    return rows === "further" ? this.#deps.state().rows : undefined;
  }

  /** The given names that are no longer in the queue. */
  unknown(names: Iterable<string>): readonly string[] {
    const { queue } = this.#deps.state();
    return [...names].filter((name) => !find(queue, name) && !this.#givenAway.has(name));
  }
}

/** Returns the change with the `seq` numbers of its new writes. Undefined: it came too late. */
function placed(
  { put, drop }: QueueChange,
  places: readonly number[] | "refused" | undefined,
): QueueChange | undefined {
  if (places === undefined || places === "refused") return undefined;
  const there = put.map(({ mutation, over }, i): Put => {
    const onDisk: Mutation = { ...asKept(mutation), seq: places[i] };
    return { mutation: onDisk, over };
  });
  return { put: there, drop };
}

const asRead = ({ rows, ...queue }: StoredQueue): QueueSnapshot => ({ ...queue, rows: rows && fromStore(rows) });
