import { gauntlet } from "../deliveries/scenarios/gauntlet.ts";
import { twoServers } from "../deliveries/scenarios/two-servers.ts";
import { FIRST_WITH } from "../simulation/model/simulation.ts";
import {
  betweenTwoProcesses,
  inRowsOfTwoWriters,
  inScenario,
  inSchedulesFrom,
  inSection,
  type Judge,
  whereClaimantsCompete,
} from "./judges.ts";
import type { Edit } from "./patched-sources.ts";

/** A bug in a copy of the sources, and the judge that has to find it. */
export interface Mutant {
  readonly name: string;
  readonly judge: Judge;
  /** At least one of these, or what begins with it. */
  readonly finds: readonly string[];
  readonly edits: readonly Edit[];
}

const sdk = "packages/sdk/src";
const server = "packages/server/src";
const captured = `${server}/modules/tables/db/captured-changes.ts`;

/**
 * For each judge, bugs of the kind that it is there for: a race, an order, a write twice or lost, what belongs to another
 * owner. They prove that it can fail. A bug that an ordinary test is there for needs no mutant.
 */
export const mutants: readonly Mutant[] = [
  {
    name: "client, no write twice: a decision overwrites what another tab has put there meanwhile",
    judge: inSchedulesFrom(0),
    finds: ["what was on disk has its answer", "no promise is left open", "one write has one effect"],
    edits: [
      {
        file: `${sdk}/storage/memory.ts`,
        find: '      if (!expected.every((standing) => this.#holds(standing))) return "refused";\n',
        replace: "",
      },
    ],
  },
  {
    name: "client, order: changes of the queue are taken in the order in which they are heard",
    judge: inSchedulesFrom(0),
    finds: ["everything comes to rest", "what was on disk has its answer", "no promise is left open"],
    edits: [
      {
        file: `${sdk}/core/queue/reconcile/take-changes.ts`,
        find: "    const next = outOfOrder.find(({ change }) => change === changes + 1);",
        replace: "    const next = outOfOrder[0];",
      },
    ],
  },
  {
    name: "client, nothing lost: what is settled leaves the disk before its rows are there",
    judge: inSchedulesFrom(0),
    finds: ["a value that was shown never goes back"],
    edits: [
      {
        file: `${sdk}/engine/row-keeper.ts`,
        find: "    else this.#gather(range, generation);",
        replace:
          "    else this.#gather({ ...range, settled: [] }, generation);\n    void this.#storage.forget(range.settled, generation).then((kept) => kept !== 'fenced' && this.#deps.settled(range.settled, kept));",
      },
    ],
  },
  {
    name: "client, parts: what the stream says of a new part while it is read is forgotten",
    judge: inSchedulesFrom(FIRST_WITH.parts),
    finds: ["every tab shows what the server has in its view"],
    edits: [
      {
        file: `${sdk}/core/log/snapshot.ts`,
        find: "changeParts(draft, withEarly(tables, added), scope);",
        replace: "changeParts(draft, tables, scope);",
      },
    ],
  },
  {
    name: "client, parts: what the stream still says of a part that was left comes into the rows",
    judge: inSchedulesFrom(FIRST_WITH.budgets),
    finds: ["memory and disk have what is followed, and nothing else"],
    edits: [
      {
        file: `${sdk}/core/log/stream-parts.ts`,
        find: '(reading.resync === "parts" || subscribed.leaving.size > 0)',
        replace: 'reading.resync === "parts"',
      },
    ],
  },
  {
    name: "client, parts: all rows count as read as far as those of a new part are",
    judge: inSchedulesFrom(FIRST_WITH.parts),
    finds: ["every tab shows what the server has in its view", "a value that was shown never goes back"],
    edits: [
      {
        file: `${sdk}/core/log/read-range.ts`,
        find: "scope }, shownAhead(rows));",
        replace:
          "scope, position: Math.max(rows.position ?? 0, ...changes.map(({ value }) => value?.syncId ?? 0)) }, shownAhead(rows));",
      },
    ],
  },
  {
    name: "client, parts: the disk names a new part, and has none of its rows",
    judge: inSchedulesFrom(FIRST_WITH.parts),
    finds: ["every tab shows what the server has in its view"],
    edits: [
      {
        file: `${sdk}/storage/memory.ts`,
        find: "tables: changeTables(tables, range.changes),",
        replace: "tables: range.was === undefined ? changeTables(tables, range.changes) : tables,",
      },
    ],
  },
  {
    name: "client, parts: a record that has left its part stays",
    judge: inSchedulesFrom(FIRST_WITH.parts),
    finds: ["every tab shows what the server has in its view", "a value that was shown never goes back"],
    edits: [
      {
        file: `${sdk}/core/log/read-range.ts`,
        find: "row.syncId >= entry.syncId ? row : rowAfter(row, entry);",
        replace: "(entry.left || row.syncId >= entry.syncId) ? row : rowAfter(row, entry);",
      },
    ],
  },
  {
    name: "client, parts: rows of a released part leave the disk when it is dropped, and stay in memory",
    judge: inSchedulesFrom(FIRST_WITH.budgets),
    finds: ["memory and disk have what is followed, and nothing else"],
    edits: [
      {
        file: `${sdk}/core/log/read-range.ts`,
        find: "return withAhead({ ...before, tables: changeTables(before.tables, changes),",
        replace:
          "return withAhead({ ...before, tables: changeTables(before.tables, changes.filter(({ value }) => value)),",
      },
    ],
  },
  {
    name: "client, another owner: what the server says of a token is taken for the one that came after it",
    judge: inSchedulesFrom(FIRST_WITH.tenants),
    finds: ["no write reaches another owner"],
    edits: [
      {
        file: `${sdk}/core/step.ts`,
        find: "  if (changed) dropOldToken(draft);",
        replace: "",
      },
    ],
  },
  {
    name: "client, no write twice: the disk does not know that a write may have been sent",
    judge: inSchedulesFrom(FIRST_WITH.sleeps),
    finds: ["a device's writes to a record are in the log in their order", "one write has one effect"],
    edits: [
      {
        file: `${sdk}/storage/stored.ts`,
        find: "return { ...rest, attempts: 0,",
        replace: "return { ...rest, unsent: true, attempts: 0,",
      },
    ],
  },
  {
    name: "conformance, a read: its stamp is taken after the row",
    judge: inSection("reading"),
    finds: ["reading: "],
    edits: [
      {
        file: `${server}/kernel/log/flows/read-record.ts`,
        find: "  const { syncId: stamp } = await readHead(db, tenant);\n",
        replace: "",
      },
      {
        file: `${server}/kernel/log/flows/read-record.ts`,
        find: "  // A record outside the reader's groups is treated as missing.\n",
        replace: "  const { syncId: stamp } = await readHead(db, tenant);\n",
      },
    ],
  },
  {
    name: "conformance, another owner: feed and stream tell what is out of scope",
    judge: inSection("scopes-of-reads"),
    finds: ["scopes-of-reads: "],
    edits: [
      { file: `${server}/kernel/log/rules/view.ts`, find: 'if (!groups) return "whole";', replace: 'return "whole";' },
    ],
  },
  {
    name: "two processes: a head is compared by its position alone",
    judge: betweenTwoProcesses,
    finds: ["the head takes", "a premise"],
    edits: [
      {
        file: `${server}/kernel/commits/db/save-creates.ts`,
        find: "and h.writer is not distinct from n.expected_writer and h.other_sync_id = n.expected_other_sync_id and",
        replace: "and",
      },
    ],
  },
  {
    // The bug shows only if two rounds overlap, so a delay makes them.
    name: "claims, two holders: claims are judged without the lock, and saving takes a moment",
    judge: whereClaimantsCompete,
    finds: ["overlap", "fence", "trespass", "inversion"],
    edits: [
      { file: `${server}/kernel/commits/db/heads.ts`, find: "limit 1 for update) h`", replace: "limit 1) h`" },
      {
        file: `${server}/modules/claims/db/claims.ts`,
        find: "as n(tenant, change, claims) where h.tenant = n.tenant",
        replace: "as n(tenant, change, claims), (select pg_sleep(0.1)) as slow where h.tenant = n.tenant",
      },
    ],
  },
  {
    name: "deliveries, a gap: the cursor moves before the 2xx",
    judge: inScenario(gauntlet),
    finds: ["missing"],
    edits: [
      {
        file: `${server}/modules/webhooks/rules/delivery.ts`,
        find: "    batchTo: to,\n    nextAttemptAt",
        replace: "    cursor: to,\n    batchTo: null,\n    nextAttemptAt",
      },
    ],
  },
  {
    name: "deliveries, order: two servers may begin at once",
    judge: inScenario(twoServers),
    finds: ["overlap"],
    edits: [
      { file: `${server}/modules/webhooks/db/deliveries.ts`, find: "where e.version = x.version\n", replace: "\n" },
      {
        file: `${server}/modules/webhooks/db/deliveries.ts`,
        find: "e.id = x.id and e.version = x.version",
        replace: "e.id = x.id",
      },
    ],
  },
  {
    name: "tables, order: transactions are recorded in the order in which they began to change rows",
    judge: inRowsOfTwoWriters,
    finds: ["order", "unequal"],
    edits: [{ file: captured, find: "max(seq) as last", replace: "min(seq) as last" }],
  },
  {
    name: "tables, nothing lost: a step deletes all changes up to its last one, also those that it could not see",
    judge: inRowsOfTwoWriters,
    finds: ["unheard", "torn", "unequal"],
    edits: [
      {
        file: captured,
        find: "tx = any($2::xid8[]) and model <> all($3) returning *",
        replace:
          "seq <= (select max(seq) from holdfast.captured_change where tx = any($2::xid8[])) and model <> all($3) returning *",
      },
    ],
  },
  {
    name: "tables, whole: the changes of transactions are taken in the order in which they were made, mixed",
    judge: inRowsOfTwoWriters,
    finds: ["torn", "unheard"],
    edits: [{ file: captured, find: "order by x.n, t.seq", replace: "order by t.seq" }],
  },
  {
    name: "tables, order: what SQL commits while a round waits for its rows comes after the round",
    judge: inRowsOfTwoWriters,
    finds: ["order", "unequal"],
    edits: [
      {
        file: `${server}/modules/tables/flows/table-round.ts`,
        find: "  if (!head || (late.length === 0 && !more)) return",
        replace: "  if (head) return",
      },
    ],
  },
  {
    name: "tables, rows are records: a deletion in SQL counts as a change",
    judge: inRowsOfTwoWriters,
    finds: ["log"],
    edits: [
      {
        file: `${server}/modules/tables/rules/captured-changes.ts`,
        find: "const left = to?.data ?? null;",
        replace: "const left = to?.data ?? old?.data ?? null;",
      },
    ],
  },
  {
    name: "tables, whole: each step of a large transaction is a commit of its own",
    judge: inRowsOfTwoWriters,
    finds: ["torn", "unheard", "invented"],
    edits: [
      {
        file: `${server}/modules/tables/flows/drain-changes.ts`,
        find: "capturedCommit(tenant, tx, changes)",
        replace: "capturedCommit(tenant, tx + to, changes)",
      },
    ],
  },
  {
    name: "tables, last state: of a row that a transaction changes twice, the first change counts",
    judge: inRowsOfTwoWriters,
    finds: ["torn", "unequal", "order"],
    edits: [
      {
        file: `${server}/modules/tables/rules/captured-changes.ts`,
        find: "const { model, id, left: data, unreadable } = last;",
        replace: "const { model, id, left: data, unreadable } = first;",
      },
    ],
  },
  {
    name: "tables, refused: a commit that a table refuses is confirmed",
    judge: inRowsOfTwoWriters,
    finds: ["log", "undone"],
    edits: [
      {
        file: `${server}/modules/tables/rules/settle-writes.ts`,
        find: "else if (!result.done) refused.set(commit, tableRefusal(commit, own, result));",
        replace: "else if (!result.done) changesOf.set(commit, []);",
      },
    ],
  },
];
