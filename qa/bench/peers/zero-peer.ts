import { LISTS, trackerList } from "../lists/tracker.ts";
import { importPeer, importPeerFile } from "./packages.ts";
import { type QueryPeer, Stopwatch } from "./query-peer.ts";
import { type PeerRow, type PeerTable, trackerTables } from "./tracker-tables.ts";

// The types of what is used here. The package is no dependency of this workspace.
interface Query {
  where(column: string, value: unknown): Query;
  related(name: string, narrow?: (query: Query) => Query): Query;
  orderBy(column: string, direction: "asc" | "desc"): Query;
  limit(count: number): Query;
}
interface View {
  addListener(listener: (rows: readonly ZeroIssue[]) => void): void;
}
interface ZeroIssue {
  readonly id: string;
  readonly notes: string | null;
  readonly project?: { readonly name: string };
  readonly labels: readonly { readonly name: string }[];
  readonly comments: readonly { readonly text: string }[];
}
interface Column {
  optional(): Column;
}
interface Relate {
  one(to: object): object;
  many(...path: object[]): object;
}
interface Table {
  columns(columns: Record<string, Column>): { primaryKey(column: string): object };
}
type Write = { readonly table: PeerTable; readonly action: "insert" | "update"; readonly row: PeerRow };
type Tx = {
  readonly mutate: Record<PeerTable, Record<Write["action"], (row: PeerRow) => Promise<void>>>;
};
interface ZeroPackage {
  table(name: string): Table;
  string(): Column;
  number(): Column;
  relationships(table: object, build: (relate: Relate) => Record<string, object>): object;
  createSchema(of: { tables: object[]; relationships: object[] }): { readonly tables: object };
  createBuilder(schema: object): Record<PeerTable, Query>;
  defineMutator(run: (call: { tx: Tx; args: readonly Write[] }) => Promise<void>): object;
  defineMutators<M>(mutators: M): { readonly write: (args: readonly Write[]) => object };
  readonly Zero: new (
    options: object,
  ) => {
    mutate(call: object): { readonly client: Promise<{ readonly type: string }>; readonly server: Promise<unknown> };
    materialize(query: Query): View;
  };
}
interface Diff {
  readonly op: "add" | "change";
  readonly key: string;
  readonly oldValue?: PeerRow;
  readonly newValue: PeerRow;
}
interface Engine {
  processChanges(from: string, to: string, diffs: readonly Diff[]): void;
  materialize(query: Query): View;
}

/**
 * Zero without a server. Its own writes are made by its client: local mutators with storage in memory. For changes that
 * arrive it exports nothing that runs without its server, so those are given to the part of its client that takes the
 * difference of two states and updates the views, imported by its file.
 */
export async function zeroPeer(from: "arrives" | "own", folder: string): Promise<QueryPeer> {
  const zero = (await importPeer(folder, "@rocicorp/zero")) as ZeroPackage;
  const { schema, zql } = described(zero);
  const { write, materialize } = from === "own" ? clientOf(zero, schema) : await engineOf(folder, schema);
  const lists: (readonly ZeroIssue[])[] = [];
  const watch = new Stopwatch();

  return {
    async load() {
      for (const [table, rows] of Object.entries(trackerTables()))
        for (let at = 0; at < rows.length; at += 1_000)
          await write(
            rows.slice(at, at + 1_000).map((row) => ({ table: table as PeerTable, action: "insert", row })),
            () => {},
          );
    },
    async mount() {
      for (let i = 0; i < LISTS; i++) {
        const { status, projectId, orderBy, limit, comments } = trackerList(i);
        const query = zql.issue
          .where("status", status)
          .where("projectId", projectId)
          .related("project")
          .related("labels")
          .related("comments", (comment) => comment.orderBy("at", "desc").limit(comments))
          .orderBy(orderBy, "asc")
          .limit(limit);
        materialize(query).addListener((rows) => {
          lists[i] = rows;
          watch.lap();
        });
        if ((lists[i]?.length ?? 0) < 100) throw new Error("A list is too short.");
      }
    },
    async change({ action, model, id, data }) {
      watch.start();
      await write(
        [{ table: model, action: action === "create" ? "insert" : "update", row: { id, ...data } }],
        () => watch.lapped || watch.lap(),
      );
      await new Promise((resolve) => setTimeout(resolve, 0));
      return watch.took;
    },
    shown: () =>
      lists.map((rows) =>
        rows.map(({ id, notes, project, labels, comments }) => ({
          id,
          notes,
          project: project?.name ?? "",
          // It cannot sort records that it reaches through a table between them.
          labels: labels.map(({ name }) => name).sort(),
          comments: comments.map(({ text }) => text),
        })),
      ),
  };
}

interface Writer {
  /** Calls `done` when the write has been applied, at once or later. */
  write(writes: readonly Write[], done: () => void): Promise<void>;
  materialize(query: Query): View;
}

function clientOf({ Zero, defineMutator, defineMutators }: ZeroPackage, schema: object): Writer {
  const mutators = defineMutators({
    write: defineMutator(async ({ tx, args }) => {
      for (const { table, action, row } of args) await tx.mutate[table][action](row);
    }),
  });
  const zero = new Zero({ schema, mutators, userID: "ann", cacheURL: null, kvStore: "mem", logLevel: "error" });
  return {
    async write(writes, done) {
      const call = zero.mutate(mutators.write(writes));
      // No server answers.
      call.server.catch(() => {});
      const { type } = await call.client;
      done();
      if (type !== "success") throw new Error("Zero refused a write.");
    },
    materialize: (query) => zero.materialize(query),
  };
}

async function engineOf(folder: string, schema: { readonly tables: object }): Promise<Writer> {
  const file = (name: string) => importPeerFile(folder, "@rocicorp/zero", `out/zero-client/src/client/${name}.js`);
  const { IVMSourceBranch } = (await file("ivm-branch")) as { IVMSourceBranch: new (...of: unknown[]) => object };
  const { ZeroContext } = (await file("context")) as { ZeroContext: new (...of: unknown[]) => Engine };
  const nothing = () => {};
  const engine = new ZeroContext(
    console,
    new IVMSourceBranch(schema.tables, "0"),
    () => nothing,
    () => nothing,
    nothing,
    nothing,
    nothing,
    (apply: () => void) => apply(),
    nothing,
    nothing,
  );
  const rows = new Map<string, PeerRow>();
  let state = 0;
  return {
    async write(writes, done) {
      const diffs = writes.map(({ table, row }): Diff => {
        const key = `e/${table}/${row.id}`;
        const oldValue = rows.get(key);
        const newValue = { ...oldValue, ...row };
        rows.set(key, newValue);
        return oldValue ? { op: "change", key, oldValue, newValue } : { op: "add", key, newValue };
      });
      engine.processChanges(String(state), String(++state), diffs);
      done();
    },
    materialize: (query) => engine.materialize(query),
  };
}

function described({ table, string, number, relationships, createSchema, createBuilder }: ZeroPackage) {
  const project = table("project").columns({ id: string(), name: string() }).primaryKey("id");
  const label = table("label").columns({ id: string(), name: string() }).primaryKey("id");
  const issue = table("issue")
    .columns({
      id: string(),
      title: string(),
      status: string(),
      rank: number(),
      notes: string().optional(),
      projectId: string(),
    })
    .primaryKey("id");
  const comment = table("comment")
    .columns({ id: string(), text: string(), at: number(), issueId: string() })
    .primaryKey("id");
  const tag = table("tag").columns({ id: string(), issueId: string(), labelId: string() }).primaryKey("id");
  const schema = createSchema({
    tables: [project, label, issue, comment, tag],
    relationships: [
      relationships(issue, ({ one, many }) => ({
        project: one({ sourceField: ["projectId"], destSchema: project, destField: ["id"] }),
        labels: many(
          { sourceField: ["id"], destSchema: tag, destField: ["issueId"] },
          { sourceField: ["labelId"], destSchema: label, destField: ["id"] },
        ),
        comments: many({ sourceField: ["id"], destSchema: comment, destField: ["issueId"] }),
      })),
    ],
  });
  return { schema, zql: createBuilder(schema) };
}
