import { LISTS, trackerList } from "../lists/tracker.ts";
import { importPeer } from "./packages.ts";
import { type QueryPeer, type ShownIssue, Stopwatch } from "./query-peer.ts";
import { type PeerRow, type PeerTable, trackerTables } from "./tracker-tables.ts";

// The types of what is used here. The package is no dependency of this workspace.
interface Collection {
  readonly toArray: readonly unknown[];
  preload(): Promise<void>;
  insert(row: PeerRow): { readonly isPersisted: { readonly promise: Promise<unknown> } };
  update(id: string, edit: (row: Record<string, unknown>) => void): ReturnType<Collection["insert"]>;
  subscribeChanges(listener: () => void): unknown;
}
type Refs = Readonly<Record<string, Readonly<Record<string, unknown>>>>;
interface Query {
  from(source: Readonly<Record<string, Collection>>): Query;
  innerJoin(source: Readonly<Record<string, Collection>>, on: (refs: Refs) => unknown): Query;
  where(condition: (refs: Refs) => unknown): Query;
  orderBy(by: (refs: Refs) => unknown, direction?: "desc"): Query;
  limit(count: number): Query;
  select(pick: (refs: Refs) => object): Query;
  findOne(): Query;
}
interface Sync {
  begin(): void;
  write(change: { readonly type: "insert" | "update"; readonly value: PeerRow }): void;
  commit(): void;
  markReady(): void;
}
interface TanStackDb {
  createCollection(options: unknown): Collection;
  localOnlyCollectionOptions(options: unknown): unknown;
  createLiveQueryCollection(build: (query: Query) => Query): Collection;
  eq(a: unknown, b: unknown): unknown;
  toArray(query: Query): unknown;
  materialize(query: Query): unknown;
  readonly BTreeIndex: unknown;
}

/** TanStack DB: live queries with nested subqueries, and indexes that it makes itself. */
export async function tanstackPeer(from: "arrives" | "own", folder: string): Promise<QueryPeer> {
  const db = (await importPeer(folder, "@tanstack/db")) as TanStackDb;
  const { eq, toArray, materialize } = db;
  const collections = new Map<PeerTable, Collection>();
  const syncs = new Map<PeerTable, Sync>();
  const lists: Collection[] = [];
  const watch = new Stopwatch();
  const of = (table: PeerTable) => collections.get(table) as Collection;

  function collection(table: PeerTable, rows: readonly PeerRow[]): Collection {
    const options = {
      id: table,
      getKey: (row: PeerRow) => row.id,
      autoIndex: "eager",
      defaultIndexType: db.BTreeIndex,
    };
    if (from === "own") return db.createCollection(db.localOnlyCollectionOptions({ ...options, initialData: rows }));
    const sync = (sync: Sync) => {
      syncs.set(table, sync);
      sync.begin();
      for (const value of rows) sync.write({ type: "insert", value });
      sync.commit();
      sync.markReady();
    };
    return db.createCollection({ ...options, startSync: true, sync: { sync, rowUpdateMode: "partial" } });
  }

  const live = (i: number) =>
    db.createLiveQueryCollection((q) => {
      const { status, projectId, orderBy, limit, comments } = trackerList(i);
      return q
        .from({ issue: of("issue") })
        .where(({ issue }) => eq(issue?.status, status))
        .where(({ issue }) => eq(issue?.projectId, projectId))
        .orderBy(({ issue }) => issue?.[orderBy])
        .limit(limit)
        .select(({ issue }) => ({
          ...issue,
          project: materialize(
            q
              .from({ project: of("project") })
              .where(({ project }) => eq(project?.id, issue?.projectId))
              .findOne(),
          ),
          labels: toArray(
            q
              .from({ tag: of("tag") })
              .innerJoin({ label: of("label") }, ({ tag, label }) => eq(tag?.labelId, label?.id))
              .where(({ tag }) => eq(tag?.issueId, issue?.id))
              .orderBy(({ label }) => label?.name)
              .select(({ label }) => ({ id: label?.id, name: label?.name })),
          ),
          comments: toArray(
            q
              .from({ comment: of("comment") })
              .where(({ comment }) => eq(comment?.issueId, issue?.id))
              .orderBy(({ comment }) => comment?.at, "desc")
              .limit(comments),
          ),
        }));
    });

  return {
    async load() {
      for (const [table, rows] of Object.entries(trackerTables()))
        collections.set(table as PeerTable, collection(table as PeerTable, rows));
      for (const each of collections.values()) await each.preload();
    },
    async mount() {
      for (let i = 0; i < LISTS; i++) lists.push(live(i));
      for (const list of lists) {
        await list.preload();
        if (list.toArray.length < 100) throw new Error("A list is too short.");
      }
      for (const list of lists)
        list.subscribeChanges(() => {
          if (list.toArray.length > 0) watch.lap();
        });
    },
    async change({ action, model, id, data }) {
      watch.start();
      if (from === "own") {
        const transaction =
          action === "create"
            ? of(model).insert({ id, ...data })
            : of(model).update(id, (row) => void Object.assign(row, data));
        if (!watch.lapped) watch.lap();
        await transaction.isPersisted.promise;
      } else {
        const sync = syncs.get(model) as Sync;
        sync.begin();
        sync.write({ type: action === "create" ? "insert" : "update", value: { id, ...data } });
        sync.commit();
        if (!watch.lapped) watch.lap();
      }
      await new Promise((resolve) => setTimeout(resolve, 0));
      return watch.took;
    },
    shown: () =>
      lists.map(({ toArray: rows }) =>
        rows.map((row) => {
          const { id, notes, project, labels, comments } = row as {
            id: string;
            notes: string | null;
            project: { name: string };
            labels: { name: string }[];
            comments: { text: string }[];
          };
          return {
            id,
            notes,
            project: project.name,
            labels: labels.map(({ name }) => name),
            comments: comments.map(({ text }) => text),
          } satisfies ShownIssue;
        }),
      ),
  };
}
