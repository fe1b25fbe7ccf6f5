import type { JsonObject, Model } from "@holdfast/sdk/protocol";
import { afterAll, expect, test } from "vitest";
import { createPool } from "../../../kernel/connection/pool.ts";
import { groupsOf } from "../../../kernel/schema/rules/sync-group.ts";
import { freshDatabase } from "../../../testing/database.ts";
import { archivedOf } from "../rules/archived-column.ts";
import { isKeyOf } from "../rules/attached-key.ts";
import { deriveModels } from "../rules/derive-models.ts";
import { readRowImage } from "../rules/row-image.ts";
import { formOf, takesType } from "../rules/sql-type.ts";
import { attachedRelation } from "./attached-relation.ts";
import { insertAttachment, readAttachments, updateGroupRules } from "./attachments.ts";
import { readCatalog } from "./catalog.ts";
import { parseRow } from "./row-text.ts";

const { url } = await freshDatabase();
const pool = createPool({ url });
afterAll(() => pool.end());

const ODD_TEXTS = ["", " ", "a\nb\t\u2028", 'quo"te\\', "ünïcödé 🎈", "\u00a0x", "a".repeat(600), "null", "1e400"];
const ODD_JSON = [
  ...[`{"a": 1, "a": 2}`, `"\\u0000 and \\\\u0000"`, `["\\ud83d\\ude00", "\\ud83d", "\\ude00x", "\\\\ud83d"]`],
  ...[`{"\\u0000": 12345678901234567890.5}`, "1.50", "null"],
];
const ODD_TIMES = [
  ...["2026-01-02 03:04:05Z", "2026-01-02 03:04:05.6Z", "2026-01-02 03:04:05.67891Z", "2026-01-02 03:04:05.000001Z"],
  ...["infinity", "-infinity", "0044-03-15 BC", "0001-01-01 00:00Z", "9999-12-31 23:59:59.999999Z"],
  ...["12026-01-01 00:00Z"],
];

const TYPES: Readonly<Record<string, readonly string[]>> = {
  text: ODD_TEXTS,
  "varchar(700)": ODD_TEXTS,
  "char(5)": ["ab", "", "12345"],
  uuid: ["A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"],
  int2: ["-3", "32767"],
  int4: ["2147483647"],
  int8: ["9007199254740991", "-1"],
  numeric: ["1.50", "NaN", "1e30", "-0.0001", "Infinity"],
  "numeric(10,2)": ["1.5"],
  float4: ["0.1", "NaN", "-Infinity", "1e30"],
  float8: ["0.30000000000000004", "1e21", "-0"],
  bool: ["true", "false"],
  json: ODD_JSON,
  jsonb: ['{"b": 1.50, "a": [1]}', "1e30"],
  timestamptz: ODD_TIMES,
  timestamp: ["2026-01-02 03:04:05.6", "infinity"],
  date: ["2026-01-02", "0044-03-15 BC"],
  time: ["03:04:05.6"],
  timetz: ["03:04:05+02"],
  interval: ["1 year 2 days 3 seconds", "-1 month"],
  "text[]": ['{a,"b c",NULL}', "{}", "{{1,2},{3,4}}"],
  "numeric[]": ["{1.50,2}"],
  "timestamptz[]": ["{2026-01-02 03:04:05.6Z}"],
  size: ["small", "la'rge"],
  sizes: ['{small,"la\'rge"}'],
  short: ["x"],
  price: ["2.50"],
  point2: ["(1,two)"],
  inet: ["10.0.0.1"],
  int4range: ["[1,5)"],
  money: ["12.5"],
  bit: ["1"],
};

test("[DS4] a record that is read in SQL is the same as one that is made of a captured row, for every type", async () => {
  await pool.query(`create type size as enum ('small', 'la''rge'); create domain sizes as size[];
    create domain short as varchar(8); create domain price as numeric; create type point2 as (x int, y text);
    insert into holdfast.organization (id, name) values ('o', 'O'); insert into holdfast.tenant (id, organization, livemode) overriding system value values (7, 'o', true);`);
  const names = Object.keys(TYPES).map((_, i) => `Col "${i}"`);
  const columns = Object.keys(TYPES).map((type, i) => `"Col ""${i}""" ${type}`);
  await pool.query(`create table public."Odd 'table" (id text primary key, ${columns.join(", ")})`);
  const most = Math.max(...Object.values(TYPES).map((values) => values.length));
  for (let n = 0; n <= most; n++)
    await pool.query(`insert into public."Odd 'table" values ($1, ${names.map((_, i) => `$${i + 2}`).join(", ")})`, [
      `r${n}`,
      ...Object.values(TYPES).map((values) => (n < values.length ? values[n] : null)),
    ]);
  const { tables } = await readCatalog(pool, [`public."Odd 'table"`]);
  const [derived] = deriveModels(tables, { modelNames: new Map() });
  if (!derived || !("model" in derived)) throw new Error(JSON.stringify(derived));
  expect(derived.columns.length).toBe(names.length);
  const isScalar = (field: string) =>
    ["string", "enum", "integer", "boolean"].includes(derived.model.fields[field]?.type ?? "");
  const rules = derived.columns
    .filter(({ field }) => isScalar(field))
    .map(({ field }) => ({ kind: `k_${field.toLowerCase()}`, from: field }));
  const model: Model = { ...derived.model, groups: rules };
  await insertAttachment(pool, {
    ...{ tenant: 7, model: "odd", relation: derived.table.relation, name: derived.table.sqlName, attachedSyncId: 41 },
    ...{ keyColumn: derived.keyColumn, columns: derived.columns },
  });
  await updateGroupRules(pool, 7, { Odd: model });
  const [attached] = await readAttachments(pool, 7);
  if (!attached) throw new Error("It is not attached.");
  await pool.query("set timezone = 'UTC'; set intervalstyle = 'sql_standard'");
  const { rows } = await pool.query(
    `select r.id, r.data, r.groups, r.sync_id, r.created_by from ${attachedRelation(attached, { isKeyOf, takesType, formOf, archivedOf, readableBytes: 2 ** 25, madeBy: "system:database" }).from} r order by key`,
  );
  await pool.query("set intervalstyle = 'iso_8601'");
  const { rows: images } = await pool.query(`select row_to_json(t.*) as image from public."Odd 'table" t order by id`);
  expect(rows.length).toBe(most + 1);
  for (const [i, { id, data, groups }] of rows.entries()) {
    const image = readRowImage(parseRow(images[i].image), attached);
    const read = JSON.parse(data) as JsonObject;
    expect(read).toEqual({ id: image.id, ...image.data });
    expect([id, groups]).toEqual([image.id, groupsOf(model, image.data)]);
  }
  expect(rows[0]).toMatchObject({ sync_id: 41, created_by: "system:database" });
});
