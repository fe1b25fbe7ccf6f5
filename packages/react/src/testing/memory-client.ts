import type {
  AttentionItem,
  Conflict,
  ErasedRecord,
  ModelSchema,
  PendingMutation,
  SyncClient,
  SyncStatus,
} from "@holdfast/sdk";

type Row = { readonly id: string } & Record<string, unknown>;

/** The controls of the test double. */
export interface MemoryClient<S extends ModelSchema> {
  readonly client: SyncClient<S>;
  /** Sets or removes a row, like a log entry. */
  put(model: string, row: Row): void;
  remove(model: string, id: string): void;
  set(change: Partial<Answers>): void;
  /** Says that a record was erased. */
  erase(record: ErasedRecord): void;
  /** Sets the position of its rows. */
  reach(syncId: number): void;
  /** Sets the result of `ready`. */
  arrive(ready: Promise<void>): void;
  /** Sets the result of `exportPending`. */
  export(exported: object): void;
  /** How many times a list was computed. */
  readonly listed: () => number;
  readonly listeners: () => number;
  readonly closed: () => boolean;
  /** The writes so far, as [method, ...arguments]. */
  readonly writes: readonly (readonly unknown[])[];
}

interface Answers {
  readonly status: SyncStatus;
  readonly conflicts: readonly Conflict[];
  readonly pending: readonly PendingMutation[];
  readonly attention: readonly AttentionItem[];
}

const online: SyncStatus = {
  name: "online",
  live: true,
  leads: true,
  pending: 0,
  conflicts: 0,
  attention: 0,
  oldestPendingAt: undefined,
  syncId: 0,
  retryAt: undefined,
  reason: undefined,
  storage: "disk",
  storageTrouble: undefined,
  persisted: undefined,
  lostStore: undefined,
  rows: "complete",
  rowsAt: undefined,
  loadedRows: undefined,
  unreadable: [],
};

/**
 * A client without storage or network, for the tests of hooks. It keeps the guarantees about identity that hooks rely
 * on.
 */
export function createMemoryClient<S extends ModelSchema>(models: readonly string[]): MemoryClient<S> {
  const tables = new Map<string, ReadonlyMap<string, Row>>(models.map((model) => [model, new Map()]));
  const lists = new Map<string, { table: ReadonlyMap<string, Row>; rows: readonly Row[] }>();
  const listeners = new Set<() => void>();
  const erasures = new Set<(record: ErasedRecord) => void>();
  const writes: unknown[][] = [];
  let answers: Answers = { status: online, conflicts: [], pending: [], attention: [] };
  let listed = 0;
  let closed = false;
  let exported: object = { writes: [] };
  let ready: Promise<void> = Promise.resolve();

  const table = (model: string) => tables.get(model) ?? new Map<string, Row>();
  const notify = () => {
    for (const listener of [...listeners]) listener();
  };
  const replace = (model: string, change: (rows: Map<string, Row>) => void) => {
    const rows = new Map(table(model));
    change(rows);
    tables.set(model, rows);
    notify();
  };
  const wrote = (...write: unknown[]) => {
    writes.push(write);
    return { id: "made", clientTxId: "tx", queued: Promise.resolve(), receipt: new Promise(() => {}) };
  };

  const list = (model: string, query: { where?: Record<string, unknown> } = {}) => {
    const key = `${model} ${JSON.stringify(query)}`;
    const known = lists.get(key);
    if (known?.table === table(model)) return known.rows;
    listed += 1;
    const where = Object.entries(query.where ?? {});
    const rows = [...table(model).values()].filter((row) => where.every(([field, value]) => row[field] === value));
    const same = known?.rows.length === rows.length && rows.every((row, at) => row === known.rows[at]);
    const answer = same && known ? known.rows : rows;
    lists.set(key, { table: table(model), rows: answer });
    return answer;
  };
  const api = (model: string) => ({
    get: (id: string) => table(model).get(id),
    list: (query?: { where?: Record<string, unknown> }) => list(model, query),
    create: (...args: unknown[]) => wrote("create", model, ...args),
    update: (...args: unknown[]) => wrote("update", model, ...args),
    delete: (...args: unknown[]) => wrote("delete", model, ...args),
    archive: (...args: unknown[]) => wrote("archive", model, ...args),
    unarchive: (...args: unknown[]) => wrote("unarchive", model, ...args),
  });

  const client = {
    schema: { models: {} },
    models: Object.fromEntries(models.map((model) => [model, api(model)])),
    commit: (...args: unknown[]) => wrote("commit", ...args),
    status: () => answers.status,
    conflicts: () => answers.conflicts,
    pending: () => answers.pending,
    attention: () => answers.attention,
    subscribe: (listener: () => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onErased: (listener: (record: ErasedRecord) => void) => {
      erasures.add(listener);
      return () => erasures.delete(listener);
    },
    ready: () => ready,
    exportPending: () => Promise.resolve(exported),
    drain: () => Promise.resolve(),
    pause: () => {},
    resume: () => {},
    close: () => {
      closed = true;
      return Promise.resolve();
    },
  };

  return {
    client: client as unknown as SyncClient<S>,
    put: (model, row) => replace(model, (rows) => rows.set(row.id, row)),
    remove: (model, id) => replace(model, (rows) => rows.delete(id)),
    set: (change) => {
      answers = { ...answers, ...change };
      notify();
    },
    erase: (record) => {
      for (const listener of erasures) listener(record);
    },
    reach: (syncId) => {
      answers = { ...answers, status: { ...answers.status, syncId } };
      notify();
    },
    arrive: (promise) => {
      ready = promise;
    },
    export: (next) => {
      exported = next;
    },
    listed: () => listed,
    listeners: () => listeners.size,
    closed: () => closed,
    writes,
  };
}
