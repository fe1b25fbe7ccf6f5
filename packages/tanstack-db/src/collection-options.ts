import type { CommitOperation, ModelName, ModelSchema, RowOf, SyncClient, SyncStatus } from "@holdfast/sdk";
import type { CollectionConfig, PendingMutation } from "@tanstack/db";
import { changedRows } from "./changed-rows.ts";

/** The options of one collection. */
export interface HoldfastCollectionConfig<S extends ModelSchema, M extends ModelName<S>> {
  readonly client: SyncClient<S>;
  readonly model: M;
  /** Default: the model's name. Give each of several collections of one model its own. */
  readonly id?: string | undefined;
}

/**
 * The options for TanStack DB's `createCollection`: a collection of one model's records, without the archived ones.
 * Throws if the client's schema has no such model.
 *
 * Writes go to the client's queue. A transaction's `isPersisted` resolves when the server has confirmed the write, and
 * rejects with the client's `SyncError` if it was refused, conflicted or discarded.
 */
export function holdfastCollectionOptions<S extends ModelSchema, M extends ModelName<S>>({
  client,
  model,
  id = model,
}: HoldfastCollectionConfig<S, M>): CollectionConfig<RowOf<S, M>, string> & { id: string } {
  type Row = RowOf<S, M>;
  const api = client.models[model];
  if (!api) throw new Error(`The client's schema has no model "${model}".`);

  // One commit for all mutations of a transaction: they take effect together or not at all.
  const write = async (mutations: readonly PendingMutation<Row>[]): Promise<void> => {
    const operations = mutations.map((mutation) => operationOf(model, mutation));
    // The schema's types hold here: TanStack DB took the mutations as rows of this model.
    await client.commit(operations as unknown as readonly CommitOperation<S>[]).receipt;
  };

  return {
    id,
    getKey: (row) => row.id,
    sync: {
      rowUpdateMode: "full",
      sync: ({ begin, write: send, commit, markReady }) => {
        let shown: ReadonlyMap<string, Row> = new Map();
        // The list has this client's pending writes in it. While a transaction waits for its receipt, TanStack DB holds
        // these changes and applies them as it drops its own copy, so a write neither shows twice nor flickers.
        const endRows = api.subscribe({}, (rows) => {
          const now = new Map((rows as readonly Row[]).map((row) => [row.id, row]));
          const changes = changedRows(shown, now);
          shown = now;
          if (changes.length === 0) return;
          begin();
          for (const change of changes) send(change);
          commit();
        });
        let isReady = false;
        const judge = () => {
          if (isReady || !isUsable(client.status())) return;
          isReady = true;
          markReady();
        };
        const endStatus = client.subscribe(judge);
        judge();
        return () => {
          endStatus();
          endRows();
        };
      },
    },
    onInsert: ({ transaction }) => write(transaction.mutations),
    onUpdate: ({ transaction }) => write(transaction.mutations),
    onDelete: ({ transaction }) => write(transaction.mutations),
  };
}

/** Rows of the disk are only waited beyond while the server may still send newer ones. */
function isUsable({ name, rows }: SyncStatus): boolean {
  if (rows !== "partial") return rows === "complete";
  return name !== "starting" && name !== "connecting" && name !== "online";
}

interface Operation {
  readonly action: "create" | "update" | "delete";
  readonly model: string;
  readonly id: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

function operationOf<Row extends { readonly id: string }>(model: string, mutation: PendingMutation<Row>): Operation {
  const id = String(mutation.key);
  switch (mutation.type) {
    case "insert": {
      const { id: _, ...data } = mutation.modified;
      return { action: "create", model, id, data };
    }
    case "update": {
      // A field that the draft lost is cleared. JSON has no undefined.
      const changes = Object.entries(mutation.changes).map(([field, value]) => [field, value ?? null]);
      return { action: "update", model, id, data: Object.fromEntries(changes) };
    }
    case "delete":
      return { action: "delete", model, id };
  }
}
