import { expect, test } from "vitest";
import type { AttachedTable } from "./attached-table.ts";
import { faultsOf } from "./broken-table.ts";

const column = { field: "title", name: "title", declared: "string", sqlType: "text", type: "text" } as const;
const renamed = {
  ...{ model: "slide", name: "public.slides", sqlName: "public.renamed", keyColumn: "id", keyType: "text" },
  ...{ keyIsUnique: true, hasRelatives: false, columns: [column] },
} as unknown as AttachedTable;

test("[DS7] a table without its key says that no push mends it, and one without a column that a push does", () => {
  expect(faultsOf(renamed)).toEqual([]);
  expect(faultsOf({ ...renamed, keyType: null })).toEqual([expect.stringContaining("detach slide --drop")]);
  expect(faultsOf({ ...renamed, columns: [{ ...column, type: "" }] })).toEqual([
    expect.stringContaining('push the schema that "holdfast tables inspect public.renamed" prints'),
  ]);
  expect(faultsOf({ ...renamed, keyColumn: "Id", keyIsUnique: false })).toEqual([
    expect.stringContaining('"alter table public.renamed add primary key ("Id")"'),
  ]);
});
