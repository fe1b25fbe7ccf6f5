import { beforeAll, expect, test } from "vitest";
import { freshPool } from "../../../testing/fresh-connection.ts";
import type { CatalogColumn, CatalogTable } from "../rules/catalog-table.ts";
import { readCatalog } from "./catalog.ts";

const pool = await freshPool();

beforeAll(async () => {
  await pool.query(`
    create schema shop;
    create schema "Back Office";
    create type shop.size as enum ('small', 'large', 'medium');
    alter type shop.size add value 'tiny' before 'small';
    create type shop.point as (x int, y int);
    create domain shop.short as varchar(8) not null default 'none';
    create domain shop.shorter as shop.short check (length(value) < 5);
    create domain shop.worn as shop.size;
    create domain shop.mood as text check (value in ('good', 'bad'));
    create domain shop.sizes as shop.size[];
  `);
});

/** Creates a table with SQL, and reads it. */
async function created(sql: string, name: string): Promise<CatalogTable> {
  await pool.query(sql);
  const { tables } = await readCatalog(pool, [name]);
  expect(tables.map(({ sqlName }) => sqlName)).toEqual([name]);
  return tables[0] as CatalogTable;
}

const column = ({ columns }: CatalogTable, name: string): CatalogColumn =>
  columns.find((one) => one.name === name) as CatalogColumn;

test("[DS9] names are resolved as in SQL, and those of no table or view are unknown", async () => {
  await pool.query(`create table shop.plain (id int); create table "Back Office"."Order Details" ("Id" int);
    create table public.plain_too (id int); create sequence shop.counter; create index plain_index on shop.plain (id);
    create table public."say ""hi""" (id int)`);
  const names = [
    ...['"Back Office"."Order Details"', "Shop . Plain", "plain_too", "public.plain_too", '"say ""hi"""'],
    ...["shop.none", "none.plain", '"Plain_too"', "shop.counter", "shop.plain_index"],
    ...['say "hi"', "order details", "a.b.c", "", "1259", "-", "shop.", "pla'in"],
  ];
  const { tables, unknown } = await readCatalog(pool, names);
  expect(tables.map(({ sqlName }) => sqlName)).toEqual([
    ...['"Back Office"."Order Details"', "shop.plain", "public.plain_too", 'public."say ""hi"""'],
  ]);
  expect(unknown).toEqual(names.slice(5));
  expect(tables[1]?.asked).toBe("Shop . Plain");
  expect(tables[0]).toMatchObject({ schema: "Back Office", name: "Order Details" });
  expect(tables[0]?.columns.map(({ name }) => name)).toEqual(["Id"]);
  const { rows } = await pool.query("select 'shop.plain'::regclass::oid::bigint as oid");
  expect(tables[1]?.relation).toBe(rows[0].oid);
});

test("[DS9] no names are no tables", async () => {
  expect(await readCatalog(pool, [])).toEqual({ tables: [], unknown: [] });
});

test("[DS9] columns come in order, with types, lengths, not null and defaults", async () => {
  const table = await created(
    `create table shop.item (id uuid primary key default gen_random_uuid(), gone text, title varchar(20) not null default 'it''s',
      code char(3), amount numeric(5, 2) default 0, at timestamptz, note text); alter table shop.item drop column gone`,
    "shop.item",
  );
  expect(table).toMatchObject({ kind: "table", persistence: "permanent", rowSecurity: "off", primaryKey: ["id"] });
  expect(table.columns.map(({ name, type }) => `${name} ${type}`)).toEqual([
    ...["id uuid", "title varchar", "code bpchar", "amount numeric", "at timestamptz", "note text"],
  ]);
  expect(table.columns.map(({ length }) => length)).toEqual([null, 20, 3, null, null, null]);
  expect(table.columns.map(({ notNull }) => notNull)).toEqual([true, true, false, false, false, false]);
  expect(column(table, "id").default).toBe("gen_random_uuid()");
  expect(column(table, "title").default).toBe("'it''s'::character varying");
  expect(column(table, "amount").default).toBe("0");
  expect(column(table, "note")).toEqual({
    ...{
      name: "note",
      type: "text",
      isArray: false,
      isLoose: false,
      length: null,
      labels: null,
      isObject: false,
      notNull: false,
    },
    ...{ default: null, identity: null, generated: null, domainChecks: [] },
  });
});

test("[DS9] enums have their labels in order, arrays the type of their elements, and domains their base type", async () => {
  const table = await created(
    `create table shop.kinds (id int primary key, size shop.size, tags text[], sizes shop.size[], worn shop.worn,
      several shop.sizes, moods shop.mood[], matrix int[][], codes varchar(9)[], place shop.point)`,
    "shop.kinds",
  );
  const labels = ["tiny", "small", "large", "medium"];
  expect(column(table, "size")).toMatchObject({ type: "size", isArray: false, labels });
  expect(column(table, "tags")).toMatchObject({ type: "text", isArray: true, labels: null });
  expect(column(table, "sizes")).toMatchObject({ type: "size", isArray: true, labels });
  expect(column(table, "worn")).toMatchObject({ type: "size", isArray: false, labels });
  expect(column(table, "several")).toMatchObject({ type: "size", isArray: true, labels });
  expect(column(table, "moods")).toMatchObject({ type: "text", isArray: true, domainChecks: [] });
  expect(column(table, "matrix")).toMatchObject({ type: "int4", isArray: true });
  expect(column(table, "codes")).toMatchObject({ type: "varchar", isArray: true, length: 9 });
  expect(column(table, "place")).toMatchObject({ type: "point", isObject: true });
  expect(column(table, "size").isObject).toBe(false);
});

test("[DS9] a domain gives its columns its length, not null, default and checks", async () => {
  const table = await created(
    `create table shop.domains (id shop.shorter primary key, mood shop.mood, own shop.short default 'mine',
      list shop.short[])`,
    "shop.domains",
  );
  expect(column(table, "id")).toMatchObject({ type: "varchar", length: 8, notNull: true });
  expect(column(table, "id").default).toBe("'none'::character varying");
  expect(column(table, "id").domainChecks).toEqual(["CHECK ((length((VALUE)::text) < 5))"]);
  expect(column(table, "mood").notNull).toBe(false);
  expect(column(table, "mood").domainChecks).toEqual(["CHECK ((VALUE = ANY (ARRAY['good'::text, 'bad'::text])))"]);
  expect(column(table, "own")).toMatchObject({ notNull: true, default: "'mine'::character varying" });
  expect(column(table, "list")).toMatchObject({ isArray: true, notNull: false, default: null });
});

test("[DS9] identity and generated columns are marked, and a generated one has no default", async () => {
  const table = await created(
    `create table shop.computed (id int generated always as identity primary key,
      other bigint generated by default as identity, twice int generated always as (id * 2) stored)`,
    "shop.computed",
  );
  expect(table.columns.map(({ identity }) => identity)).toEqual(["always", "by default", null]);
  expect(column(table, "twice")).toMatchObject({ generated: "stored", default: null });
  expect(column(table, "id").generated).toBe(null);
});

const { rows: versions } = await pool.query("select current_setting('server_version_num')::int as number");
test.skipIf(versions[0].number < 180_000)("[DS9] a virtual generated column is marked as such", async () => {
  const table = await created(
    "create table shop.virtual (id int primary key, twice int generated always as (id * 2) virtual)",
    "shop.virtual",
  );
  expect(column(table, "twice")).toMatchObject({ generated: "virtual", default: null });
});

test("[DS9] keys and checks name their columns in order", async () => {
  await pool.query(`create table shop.deck (id text primary key, part int, unique (part, id));
    create table shop.piece (id int primary key) partition by range (id);
    create table shop.piece_low partition of shop.piece for values from (0) to (9)`);
  const table = await created(
    `create table shop."Slide" (deck_id text references shop.deck, "No" int, state text, part int,
      piece int references shop.piece, primary key ("No", deck_id), foreign key (part, state) references shop.deck (part, id),
      constraint a check (state in ('new', 'old')), constraint b check ("No" > part), constraint c check (true))`,
    'shop."Slide"',
  );
  expect(table.primaryKey).toEqual(["No", "deck_id"]);
  expect(table.foreignKeys).toEqual([
    { column: "deck_id", table: "shop.deck", otherColumn: "id" },
    { column: "piece", table: "shop.piece", otherColumn: "id" },
  ]);
  expect(table.checks).toEqual([
    { columns: ["state"], definition: "CHECK ((state = ANY (ARRAY['new'::text, 'old'::text])))" },
    { columns: expect.arrayContaining(["No", "part"]), definition: 'CHECK (("No" > part))' },
    { columns: [], definition: "CHECK (true)" },
  ]);
});

test("[DS9] partitions name their parent; inheritance names parents and children", async () => {
  await pool.query(`create table shop.log (id int primary key) partition by range (id);
    create table "Back Office"."Log 1" partition of shop.log for values from (0) to (9);
    create table shop.base (id int); create table shop.mixin (n int);
    create table shop.derived () inherits (shop.mixin, shop.base)`);
  const { tables } = await readCatalog(pool, ["shop.log", '"Back Office"."Log 1"', "shop.base", "shop.derived"]);
  const [log, partition, base, derived] = tables;
  expect(log).toMatchObject({ kind: "partitioned", partitionOf: null, children: [], parents: [] });
  expect(partition).toMatchObject({ kind: "table", partitionOf: "shop.log", parents: [], primaryKey: ["id"] });
  expect(base).toMatchObject({ parents: [], children: ["shop.derived"] });
  expect(derived).toMatchObject({ parents: ["shop.mixin", "shop.base"], children: [], partitionOf: null });
});

test("[DS9] views, foreign, unlogged and temporary tables and row security are told apart", async () => {
  const client = await pool.connect();
  try {
    await client.query(`create foreign data wrapper elsewhere; create server there foreign data wrapper elsewhere;
      create foreign table shop.far (id int) server there; create view shop.seen as select 1 as id;
      create materialized view shop.kept as select 1 as id; create unlogged table shop.quick (id int);
      create temporary table brief (id int);
      create table shop.guarded (id int); alter table shop.guarded enable row level security;
      create table shop.forced (id int); alter table shop.forced enable row level security, force row level security;
      create table shop.idle (id int); alter table shop.idle force row level security`);
    const names = ["far", "seen", "kept", "quick"].map((name) => `shop.${name}`);
    const { tables } = await readCatalog(client, [...names, "brief", "shop.guarded", "shop.forced", "shop.idle"]);
    expect(tables.slice(0, 3).map(({ kind }) => kind)).toEqual(["foreign", "view", "materialized view"]);
    expect(tables[3]?.persistence).toBe("unlogged");
    expect(tables[4]?.persistence).toBe("temporary");
    expect(tables.slice(4).map(({ rowSecurity }) => rowSecurity)).toEqual(["off", "on", "forced", "off"]);
  } finally {
    client.release();
  }
});

const { rows: citext } = await pool.query("select from pg_available_extensions where name = 'citext'");
test.skipIf(citext.length === 0)("[DS9] citext is called citext, in whichever schema it is", async () => {
  const table = await created(
    "create extension citext schema shop; create table shop.cited (id shop.citext primary key)",
    "shop.cited",
  );
  expect(column(table, "id")).toMatchObject({ type: "citext", isObject: false });
});

const { rows: hstore } = await pool.query("select from pg_available_extensions where name = 'hstore'");
test.skipIf(hstore.length === 0)("[DS9] a type with a cast to json is written as an object", async () => {
  const table = await created(
    "create extension hstore schema shop; create table shop.stored (id int primary key, more shop.hstore)",
    "shop.stored",
  );
  expect(column(table, "more")).toMatchObject({ type: "hstore", isObject: true });
});
