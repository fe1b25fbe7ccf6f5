import type { Installed, SlideRow } from "./system.ts";

// The types of what is used here. The package is no dependency of this workspace.
interface Query {
  where(column: string, value: string): Query;
}
export interface Tx {
  readonly mutate: { readonly slide: { insert(row: SlideRow): Promise<void> } };
}
interface Listed<T> {
  readonly fn: T;
}
type Mutator = Listed<(call: { tx: Tx; args: unknown; ctx: unknown }) => Promise<void>>;
interface View {
  addListener(listener: (rows: readonly SlideRow[], result: "complete" | "unknown" | "error") => void): void;
}
interface ZeroClient {
  mutate(call: object): { readonly server: Promise<{ readonly type: string }> };
  materialize(query: unknown): View;
  close(): Promise<void>;
}
interface ZeroPackage {
  table(name: string): { columns(columns: object): { primaryKey(column: string): object } };
  string(): object;
  createSchema(of: { tables: object[] }): object;
  createBuilder(schema: object): { readonly slide: Query };
  defineMutator(run: (call: { tx: Tx; args: SlideRow }) => Promise<void>): Mutator;
  defineMutators<M>(mutators: M): { readonly create: Mutator & ((row: SlideRow) => object) };
  defineQuery(make: (call: { args: { deckId: string } | undefined }) => Query): object;
  defineQueries<Q>(queries: Q): {
    readonly slides: ((args?: { deckId: string }) => unknown) & Listed<(call: object) => Query>;
  };
  readonly Zero: new (options: object) => ZeroClient;
}

/** One table, one mutator and one query, for client and server. */
export async function zeroModel(installed: Installed) {
  const made = (await installed.import("@rocicorp/zero", "out/zero/src/zero.js")) as ZeroPackage;
  const {
    table,
    string,
    createSchema,
    createBuilder,
    defineMutator,
    defineMutators,
    defineQuery,
    defineQueries,
    Zero,
  } = made;
  const slide = table("slide")
    .columns({ id: string(), deckId: string(), title: string(), notes: string() })
    .primaryKey("id");
  const schema = createSchema({ tables: [slide] });
  const { slide: all } = createBuilder(schema);
  const mutators = defineMutators({ create: defineMutator(({ tx, args }) => tx.mutate.slide.insert(args)) });
  const queries = defineQueries({
    slides: defineQuery(({ args }) => (args === undefined ? all : all.where("deckId", args.deckId))),
  });
  return { schema, mutators, queries, Zero };
}
