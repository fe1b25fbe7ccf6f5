import { expect, test } from "vitest";
import { archivedColumn } from "./archived-column.ts";
import type { AttachedTable } from "./attached-table.ts";
import { faultsOf } from "./broken-table.ts";

const column = { field: "title", name: "title", declared: "string", sqlType: "text", type: "text" } as const;
const renamed = {
  ...{ model: "slide", name: "public.slides", sqlName: "public.renamed", keyColumn: "id", keyType: "text" },
  ...{ keyIsUnique: true, hasRelatives: false, silent: [], columns: [column] },
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

test.each([
  ["is gone", "", "public.slides has no column gone_at any more"],
  ["has another type", "text", "public.slides.gone_at is now of type text"],
])(
  "[DS80] a column that says what is archived and %s is named in the push: what inspect prints may lack it",
  (_, type, what) => {
    const archived = { ...archivedColumn("gone_at"), sqlType: "timestamptz", type };
    const [sentence] = faultsOf({ ...renamed, columns: [column, archived] });
    expect(sentence).toContain(what);
    expect(sentence).toContain('"table.archived"');
    expect(sentence).not.toContain("tables inspect");
  },
);
