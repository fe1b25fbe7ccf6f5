import { PersistentMap } from "../../../../packages/sdk/src/core/log/persistent-map.ts";
import type { LogRow } from "../../../../packages/sdk/src/core/log/rows.ts";
import type { Mutation } from "../../../../packages/sdk/src/core/queue/mutation.ts";
import { type RowsInStore, type Storage, StorageFailure } from "../../../../packages/sdk/src/engine/ports.ts";
import { MemoryDisk, memoryStorage } from "../../../../packages/sdk/src/storage/memory.ts";
import type { EventSchedule, Owner, Task } from "../schedule.ts";

type Method = keyof Storage;
type Call = (storage: Storage) => Promise<unknown>;

/** Of these the answer says what others did. */
const READS: ReadonlySet<Method> = new Set(["takeLead", "readQueue"]);

const WIPED = "The simulated disk was wiped.";

/** A pending disk operation. */
interface Transaction {
  readonly method: Method;
  readonly by: Owner;
  readonly task: Task;
  readonly call: Call;
  /** How often the disk had been wiped when its tab opened it. */
  readonly wipes: number;
  readonly fail: (reason: string) => void;
}

/** Transactions of these are flushed before they are complete; of others a power cut may take the last ones back. */
const STRICT: ReadonlySet<Method> = new Set(["enqueue", "own", "keep"]);

/**
 * The disk of one device, shared by its tabs. Each call is a transaction that the schedule runs, then a
 * result that arrives later, if its tab is still open. Transactions of one tab run in order, those of several in any order.
 */
export class SimulatedDisk {
  readonly #schedule: EventSchedule;
  readonly #name: string;
  #content = new MemoryDisk();
  #storage = memoryStorage(this.#content);
  /** Every transaction that happened, so that some of them can be taken back. */
  #done: Call[] = [];
  #flushed = 0;
  #open: Transaction[] = [];
  #watchers: { readonly tab: Owner; readonly lost: (failure: StorageFailure) => void }[] = [];
  /** Names of the writes that were ever flushed here. */
  readonly flushed = new Set<string>();
  /** Names of the writes that lie here now. */
  kept: ReadonlySet<string> = new Set();
  /** Names of the writes that the user, or the browser, has wiped off it. */
  readonly wiped = new Set<string>();
  /** The place in the queue that each write was given. */
  readonly places = new Map<string, number>();
  /** How often it was wiped. */
  wipes = 0;

  /** `owner`: the disk has been used before, and belongs to them. */
  constructor(schedule: EventSchedule, name: string, owner: string | undefined) {
    this.#schedule = schedule;
    this.#name = name;
    if (owner !== undefined) void this.#happen("own", (storage) => storage.own(owner));
  }

  /** The port of one tab. It fails if the store was wiped since it was opened. */
  portOf(tab: Owner): Storage {
    const { wipes } = this;
    const methods = Object.keys(this.#storage) as Method[];
    const port = methods.map((method) => [
      method,
      (...args: unknown[]) =>
        this.#transaction(tab, method, wipes, (storage) =>
          (storage[method] as (...given: unknown[]) => Promise<unknown>)(...args),
        ),
    ]);
    const watch: Storage["watch"] = (lost) => void this.#watchers.push({ tab, lost });
    return inTwo({ ...(Object.fromEntries(port) as Storage), watch });
  }

  /** The writes that would be resent after a reload. */
  async queue(): Promise<readonly Mutation[]> {
    return (await this.#storage.readQueue()).mutations;
  }

  /** The rows, and which records they are. */
  get rows(): RowsInStore {
    return this.#content.rows();
  }

  get openTransactions(): readonly { readonly method: string; readonly by: Owner }[] {
    return this.#open;
  }

  /** One transaction fails, as a full disk or a lost handle would make it. */
  failOne(at: number): string | undefined {
    const transaction = this.#open[at];
    if (!transaction || transaction.method === "close") return undefined;
    this.#remove(transaction);
    transaction.fail("The simulated disk failed.");
    return `${transaction.by.name} ${transaction.method}`;
  }

  /** The tab was closed: the first `kept` of its pending operations still run, without a message. */
  leave(tab: Owner, kept: number): void {
    const own = this.#open.filter(({ by }) => by === tab);
    for (const [i, transaction] of own.entries()) {
      this.#remove(transaction);
      if (i < kept && transaction.wipes === this.wipes) void this.#happen(transaction.method, transaction.call);
    }
  }

  openOf(tab: Owner): number {
    return this.#open.filter(({ by }) => by === tab).length;
  }

  /** Power failure: the last operations that were not flushed are lost. */
  powerCut(keep: (unflushed: number) => number): void {
    const unflushed = this.#done.length - this.#flushed;
    this.#done.length = this.#flushed + Math.min(unflushed, keep(unflushed));
    this.#content = new MemoryDisk();
    this.#storage = memoryStorage(this.#content);
    for (const call of this.#done) void call(this.#storage);
  }

  /** The user deletes all data of the site. */
  wipe(): void {
    for (const name of this.flushed) this.wiped.add(name);
    this.wipes += 1;
    for (const { tab, lost } of this.#watchers)
      this.#schedule.add(`${tab.name} hears that its store is gone`, tab, () => lost(new StorageFailure(WIPED)));
    this.#watchers = [];
    this.#done = [];
    this.#flushed = 0;
    this.#content = new MemoryDisk();
    this.#storage = memoryStorage(this.#content);
  }

  #transaction(by: Owner, method: Method, wipes: number, call: Call): Promise<unknown> {
    return new Promise((resolve, reject) => {
      // Results of the disk arrive after the messages that other tabs had posted by then, because messages are faster.
      const lane = READS.has(method) ? `what ${by.name} hears` : `answers of the disk to ${by.name}`;
      const answer = (what: string, then: () => void) =>
        this.#schedule.add(`${by.name} ${method} ${what}`, by, then, lane);
      const task = this.#schedule.add(
        `${this.#name}'s disk does ${method} of ${by.name}`,
        undefined,
        () => {
          this.#open.splice(this.#open.indexOf(transaction), 1);
          if (wipes !== this.wipes && method !== "close") fail(WIPED);
          else void this.#happen(method, call).then((result) => answer("is done", () => resolve(asRead(result))));
        },
        `transactions of ${by.name}`,
      );
      const fail = (reason: string) => answer("has failed", () => reject(new StorageFailure(reason)));
      const transaction: Transaction = { method, by, task, call, wipes, fail };
      this.#open.push(transaction);
    });
  }

  #remove(transaction: Transaction): void {
    this.#schedule.drop(transaction.task);
    this.#open.splice(this.#open.indexOf(transaction), 1);
  }

  async #happen(method: Method, call: Call): Promise<unknown> {
    this.#done.push(call);
    if (STRICT.has(method)) this.#flushed = this.#done.length;
    const result = await call(this.#storage);
    const queue = await this.queue();
    this.kept = new Set(queue.map((m) => m.clientTxId));
    if (method !== "enqueue") return result;
    for (const { clientTxId, seq } of queue) {
      this.flushed.add(clientTxId);
      if (seq !== undefined) this.places.set(clientTxId, seq);
    }
    return result;
  }
}

/** Each tab gets rows of its own, as from a real disk: the client adds to those that it gives to the app. */
function asRead<T>(result: T): T {
  const { rows, partial } = (result ?? {}) as { readonly rows?: RowsInStore; readonly partial?: RowsInStore };
  if (!rows && !partial) return result;
  return { ...result, ...(rows && { rows: copied(rows) }), ...(partial && { partial: copied(partial) }) };
}

const copied = (rows: RowsInStore): RowsInStore => ({
  ...rows,
  tables: Object.fromEntries(
    Object.entries(rows.tables).map(([model, table]) => [
      model,
      PersistentMap.empty<LogRow>().edit((draft) => {
        for (const [id, row] of table.entries()) draft.set(id, structuredClone(row));
      }),
    ]),
  ),
});

/** As on a real disk, one transaction stores the rows and another one deletes the settled writes. */
const inTwo = (port: Storage): Storage => ({
  ...port,
  keepRows: async ({ settled, ...range }, generation) => {
    const kept = await port.keepRows({ ...range, settled: [] }, generation);
    if (kept === "gap" || kept === "fenced" || settled.length === 0) return kept;
    return port.forget(settled, generation);
  },
});
