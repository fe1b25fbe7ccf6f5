import type { ModelName, ModelSchema, Query, RowOf, SyncClient } from "@holdfast/sdk";
import type { AnyRow } from "../model-of.ts";

/**
 * The results of a page's queries on a server, as plain JSON. Send it with the page and pass it to `HydrationBoundary`.
 */
export interface Snapshot {
  /** The log position of the rows. */
  readonly syncId: number;
  readonly answers: readonly {
    readonly model: string;
    /** The query, or the id of one record. */
    readonly query: object | string;
    readonly rows: readonly AnyRow[];
  }[];
}

/** A read of a page: a model with a query (or without: all its records), or with the id of one record. */
export type SnapshotQuery<S extends ModelSchema> = {
  [M in ModelName<S>]: readonly [model: M, query?: Query<S, M> | string];
}[ModelName<S>];

/**
 * Runs a page's queries on a server once the client has rows. Rejects if it has none after `timeoutMs` (default 10
 * 000), so that a page fails instead of hanging.
 */
export async function dehydrate<S extends ModelSchema>(
  client: SyncClient<S>,
  queries: readonly SnapshotQuery<S>[],
  { timeoutMs = 10_000 }: { timeoutMs?: number | undefined } = {},
): Promise<Snapshot> {
  let clock: ReturnType<typeof setTimeout> | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    const error = new Error(`dehydrate: the client had no rows after ${timeoutMs} ms.`);
    clock = setTimeout(() => reject(error), timeoutMs);
  });
  await Promise.race([client.ready(), tooLate]).finally(() => clearTimeout(clock));
  return {
    syncId: client.status().syncId,
    answers: queries.map(([model, query = {}]) => ({ model, query, rows: answered(client, model, query) })),
  };
}

function answered<S extends ModelSchema, M extends ModelName<S>>(
  client: SyncClient<S>,
  model: M,
  query: Query<S, M> | string,
): readonly AnyRow[] {
  const api = client.models[model];
  if (!api) throw new Error(`The client's schema has no model "${model}".`);
  const rows: readonly RowOf<S, M>[] =
    typeof query === "string" ? [api.get(query)].filter((row) => row !== undefined) : api.list(query);
  // Rows have their facts on a prototype, and a server component may pass on only plain objects.
  return rows.map((row) => ({ ...row })) as unknown as readonly AnyRow[];
}
