import type { Edit } from "../../conformance/mutants.ts";
import type { ViolationKind } from "../check.ts";

/** A bug in a copy of the server's sources, and the violations that the checker must find in a short run. */
export interface Mutant {
  readonly name: string;
  readonly edits: readonly Edit[];
  /** At least one of these. */
  readonly finds: readonly ViolationKind[];
  /** It is found quickly, so every test run includes it. */
  readonly isQuick?: true;
}

const server = "packages/server/src";
const changes = `${server}/rules/tables/captured-changes.ts`;
const stored = `${server}/db/tables/captured-changes.ts`;
const round = `${server}/flows/tables/table-round.ts`;
const triggers = "packages/server/migrations/0001_initial.sql";

export const mutants: readonly Mutant[] = [
  {
    name: "a row that a transaction changed twice is recorded with its first state",
    edits: [
      { file: changes, find: "    records.delete(key);\n", replace: "" },
      { file: changes, find: "    records.set(key, {", replace: "    if (!records.has(key)) records.set(key, {" },
    ],
    finds: ["torn", "unequal", "order"],
    isQuick: true,
  },
  {
    name: "transactions are recorded in the order in which they began to change rows",
    edits: [{ file: stored, find: "group by tx order by max(seq)", replace: "group by tx order by min(seq)" }],
    finds: ["order", "unequal"],
  },
  {
    name: "a step deletes all changes up to its last one, also those that it could not see",
    edits: [
      {
        file: stored,
        find: "delete from holdfast.captured_change where tenant = $1 and seq in (select seq from chosen) returning *",
        replace:
          "delete from holdfast.captured_change where tenant = $1 and seq <= (select max(seq) from chosen) returning *",
      },
    ],
    finds: ["unheard", "torn", "unequal"],
  },
  {
    name: "a transaction with more changes than one step takes is cut off",
    edits: [
      {
        file: `${server}/flows/tables/drain-changes.ts`,
        find: "if (names.length === 1) after = changes.at(-1)?.seq ?? after;",
        replace: "if (names.length === 1) after = Number.MAX_SAFE_INTEGER;",
      },
    ],
    finds: ["waiting", "torn"],
  },
  {
    name: "transactions that are collected together are mixed",
    edits: [
      { file: stored, find: 'transactions.length === 1 ? "c.seq" : "x.n, c.seq"', replace: '"c.seq"' },
      { file: stored, find: "sum(bytes) over (order by n, seq)", replace: "sum(bytes) over (order by seq)" },
      { file: stored, find: "order by chosen.n, t.seq", replace: "order by t.seq" },
    ],
    finds: ["torn", "order"],
  },
  {
    name: "a round takes the changes of other transactions for its own",
    edits: [
      {
        file: `${server}/db/tables/row-writes.ts`,
        find: "where tenant = $1 and tx = pg_current_xact_id() returning *)",
        replace: "where tenant = $1 returning *)",
      },
    ],
    finds: ["unheard", "torn"],
  },
  {
    name: "what SQL commits while a round writes is recorded after it",
    edits: [{ file: round, find: "if (!head || late.length === 0)", replace: "if (!head || late.length >= 0)" }],
    finds: ["order", "unequal"],
  },
  {
    name: "what cascades and triggers change in a commit is not recorded",
    edits: [
      {
        file: `${server}/rules/tables/written-commit.ts`,
        find: "operations: [...operations, ...changes.map(changeOf)]",
        replace: "operations: [...operations, ...changes.slice(changes.length).map(changeOf)]",
      },
    ],
    finds: ["unequal", "order"],
    isQuick: true,
  },
  {
    name: "changes that triggers make are not captured",
    edits: [
      {
        file: triggers,
        find: "  if pg_trigger_depth() > 1 then\n",
        replace: "  if pg_trigger_depth() > 1 then\n    return null;\n",
      },
    ],
    finds: ["unequal", "order"],
  },
  {
    name: "the rows of a truncated table stay records",
    edits: [{ file: changes, find: '      steps.push({ kind: "truncate", tx, model });\n', replace: "" }],
    finds: ["unequal", "unheard"],
  },
  {
    name: "a deletion in SQL is recorded as a write of the row before it",
    edits: [{ file: changes, find: 'data: kind === "w" ? row.data : null', replace: "data: row.data" }],
    finds: ["unequal", "torn"],
  },
  {
    name: "a commit that a table refused is recorded",
    edits: [
      {
        file: `${server}/rules/tables/settle-writes.ts`,
        find: '      if (refusal) return { kind: "refused", refusal };\n      const made',
        replace: "      if (refusal) return decision;\n      const made",
      },
    ],
    finds: ["unequal", "order", "log"],
  },
  {
    name: "a change in SQL is signed by the one who wrote last",
    edits: [
      {
        file: `${server}/rules/tables/captured-commit.ts`,
        find: 'participantKind: "system", participantId: "database"',
        replace: 'participantKind: "agent", participantId: "database"',
      },
    ],
    finds: ["author"],
  },
];
