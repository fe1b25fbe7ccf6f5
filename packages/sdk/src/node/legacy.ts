import type { Mutation } from "../core/mutation.ts";
import type { RowChange } from "../core/rows.ts";
import type * as Old from "../engine/ports.ts";
import type { Storage } from "./coming-port.ts";

export function legacy(storage: Storage): Old.Storage {
  let generation = 0;
  const names = new Map<number, string>();
  const places = (seqs: readonly number[]) => seqs.map((seq) => ({ seq, clientTxId: names.get(seq) ?? "" }));
  const note = (m: readonly Mutation[]) => {
    for (const x of m) if (x.seq !== undefined) names.set(x.seq, x.clientTxId);
  };
  return {
    async open(id) {
      const s = await storage.open(id);
      note(s.mutations);
      generation = (await storage.lead()).generation;
      return s;
    },
    async enqueue(m) {
      const p = await storage.enqueue(m);
      for (const x of p) names.set(x.seq, x.clientTxId);
      return p;
    },
    async keep(m) {
      await storage.keep(m, generation);
    },
    async forget(s) {
      await storage.forget(places(s), generation);
    },
    async readQueue() {
      return (await storage.open("x")).mutations;
    },
    async keepRows(s) {
      return (await storage.keepRows({ ...s, settled: places(s.settled) }, generation)) as "kept";
    },
    async keepSnapshot(rows) {
      const changes: RowChange[] = Object.entries(rows.tables).flatMap(([model, t]) =>
        [...t.entries()].map(([id, value]) => ({ record: { model, id }, value })),
      );
      await storage.keepPage(
        { logId: rows.logId ?? "", stamp: rows.position ?? 0, first: true, changes, cursor: null },
        generation,
      );
    },
    close: () => storage.close(),
  };
}
