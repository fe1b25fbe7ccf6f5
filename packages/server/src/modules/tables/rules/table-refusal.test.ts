import { expect, test } from "vitest";
import { tableRefusal } from "./table-refusal.ts";

const commit = { tenant: 1, clientTxId: "t1", single: true, operations: [], reads: [] } as unknown as Parameters<
  typeof tableRefusal
>[0];
const refusal = (sqlstate: string, message: string) =>
  tableRefusal(commit, [], { operation: 0, sqlstate, message, constraint: "", table: "", column: "" });

test.each([
  ["53100", 'could not extend file "base/5/16390": No space left on device', "storage_full"],
  ["42501", 'could not open file "pg_tblspc/16998/PG_18_202506291/16978/16999": Read-only file system', "unavailable"],
  ["42501", 'could not extend file "base/5/16390": Read-only file system', "unavailable"],
  ["42501", 'Datei »"base/5/16390"« konnte nicht erweitert werden', "unavailable"],
  ["58030", 'could not read blocks 0..0 in file "base/5/16390": Input/output error', "unavailable"],
  ["42501", "permission denied for table slides", "source_refused"],
  ["42501", 'new row violates row-level security policy for table "base"', "source_refused"],
])(
  "[DS76] what Postgres says of its disk is told apart from a missing privilege: %s, %s is %s",
  (sqlstate, message, code) => {
    expect(refusal(sqlstate, message).code).toBe(code);
  },
);
