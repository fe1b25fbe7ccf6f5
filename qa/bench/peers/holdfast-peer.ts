import { createTestServer } from "@holdfast/sdk/testing";
import { type Created, LISTS, tracker, trackerList, trackerSchema } from "../lists/tracker.ts";
import { type QueryPeer, Stopwatch } from "./query-peer.ts";

/** Parses what the server in memory returns, as a client does with bytes: the two must not share a row. */
const asBytes = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** This project's client, with its queue and its storage, on a server in memory. Every change makes it read all 50 lists. */
export function holdfastPeer(from: "arrives" | "own"): QueryPeer & { fillServer(): Promise<void> } {
  const { server, client: open, settle } = createTestServer(trackerSchema);
  const [page, log] = [server.snapshotPage.bind(server), server.readLog.bind(server)];
  server.snapshotPage = (...args) => asBytes(page(...args));
  server.readLog = (...args) => asBytes(log(...args));
  let opened: ReturnType<typeof open> | undefined;
  const now = () => {
    opened ??= open();
    return opened;
  };
  let named = 0;
  const commit = (operations: readonly ({ action: string } & Created)[]) =>
    server.commit({ clientTxId: `c${++named}`, operations } as Parameters<typeof server.commit>[0], "ben");
  const watch = new Stopwatch();

  // A list that is shown asks with the same object each time, as the hooks do.
  const queries = Array.from({ length: LISTS }, (_, i) => {
    const { comments, status, projectId, ...query } = trackerList(i);
    const include = {
      ...({ project: true, labels: { orderBy: "name" } } as const),
      comments: { orderBy: "at", order: "desc", limit: comments },
    } as const;
    return { ...query, where: { status, projectId }, include };
  });
  const read = (i: number) => now().client.models.issue.list(queries[i]);

  return {
    /** Fills the server, which is in this process, too. */
    async fillServer() {
      let batch: Created[] = [];
      const flush = () => commit(batch.splice(0).map((each) => ({ action: "create", ...each })));
      for (const each of tracker()) if (batch.push(each) === 1_000) flush();
      if (batch.length > 0) flush();
      batch = [];
    },
    async load() {
      const { client, connection } = now();
      await client.ready({ rows: "complete" });
      await settle();
      connection.quiet = from === "arrives";
    },
    async mount() {
      for (let i = 0; i < LISTS; i++) if (read(i).length < 100) throw new Error("A list is too short.");
      // The first call has the new result. A later one is that of the server's receipt, which changes no list.
      now().client.subscribe(() => {
        if (watch.lapped) return;
        for (let i = 0; i < LISTS; i++) read(i);
        watch.lap();
      });
    },
    async change(change) {
      const { client, connection } = now();
      if (from === "arrives") {
        const head = server.head;
        commit([change]);
        const entries = asBytes(server.log.slice(head));
        if (entries.length !== 1) throw new Error("A change that changes nothing measures nothing.");
        watch.start();
        connection.say({ frame: "entries", from: head, to: server.head, entries });
      } else {
        const { issue, label, comment } = client.models;
        const { model, id, data } = change;
        const model_ = { issue, label, comment }[model as "issue"];
        watch.start();
        if (change.action === "create") void model_.create(data as Parameters<typeof issue.create>[0], { id });
        else void model_.update(id, data);
      }
      if (!watch.lapped) throw new Error("The listener was not called at once.");
      const { took } = watch;
      await settle();
      if (client.status().syncId !== server.head) throw new Error("The change did not arrive.");
      return took;
    },
    shown: () =>
      Array.from({ length: LISTS }, (_, i) =>
        read(i).map(({ id, notes, project, labels, comments }) => ({
          id,
          notes: notes ?? null,
          project: project?.name ?? "",
          labels: [...new Set(labels.map(({ name }) => name ?? ""))],
          comments: comments.map(({ text }) => text ?? ""),
        })),
      ),
  };
}
