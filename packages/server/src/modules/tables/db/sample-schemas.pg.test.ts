import { readFileSync } from "node:fs";
import { type Field, fits } from "@holdfast/sdk/protocol";
import { beforeAll, describe, expect, test } from "vitest";
import { checkSchema } from "../../../kernel/schema/rules/schema-push.ts";
import { freshPool } from "../../../testing/fresh-connection.ts";
import { type DerivedTable, deriveModels } from "../rules/derive-models.ts";
import { readRowImage } from "../rules/row-image.ts";
import { readCatalog } from "./catalog.ts";
import { readTableRows } from "./table-rows.ts";

const sample = (schema: string) =>
  readFileSync(new URL(`../../../testing/sample-schemas/${schema}.sql`, import.meta.url), "utf8");

const pool = await freshPool();

/** `deckId string required → deck` */
function spelled([name, { type, required, nullable, references, values, default: value }]: [string, Field]): string {
  const parts = [required ? "required" : "", nullable ? "nullable" : "", values?.join("|") ?? ""];
  const more = [
    value === undefined ? "" : `= ${JSON.stringify(value)}`,
    references === undefined ? "" : `→ ${references}`,
  ];
  return [name, type, ...parts, ...more].filter((part) => part !== "").join(" ");
}

async function inspect(schema: string, names: readonly string[]): Promise<Map<string, DerivedTable>> {
  const { tables, unknown } = await readCatalog(
    pool,
    names.map((name) => `${schema}.${name}`),
  );
  expect(unknown).toEqual([]);
  return new Map(deriveModels(tables).map((one) => [one.table.name, one]));
}

type Attachable = Extract<DerivedTable, { model: unknown }>;

function attachable(found: ReadonlyMap<string, DerivedTable>, name: string): Attachable {
  const one = found.get(name);
  if (!one || "problem" in one) throw new Error(one?.problem ?? `${name} was not read.`);
  return one;
}

const fieldsOf = ({ model }: Attachable): string => Object.entries(model.fields).map(spelled).join(", ");

/** Each row as a record, with the fields whose value is not of the field's type. */
async function recordsOf({ table, columns, keyColumn, model }: Attachable) {
  const keyType = table.columns.find(({ name }) => name === keyColumn)?.type ?? "";
  const of = { tenant: 0, model: "", relation: table.relation, keyColumn };
  const images = await readTableRows(pool, of, { name: table.sqlName, keyType }, null, 100);
  const read = columns.map((column) => {
    const { type = "" } = table.columns.find(({ name }) => name === column.name) ?? {};
    return { ...column, type };
  });
  return images.map((image) => {
    const { id, data } = readRowImage(image, { keyColumn, columns: read });
    const misfits = Object.entries(model.fields).filter(([name, field]) => !fits(field, data[name] ?? null));
    return { id, data, misfits: misfits.map(([name]) => name) };
  });
}

describe("Northwind", () => {
  let found: ReadonlyMap<string, DerivedTable>;

  beforeAll(async () => {
    await pool.query(sample("northwind"));
    found = await inspect("northwind", [
      ...["orders", "categories", "customers", "region", "territories", "employees", "employee_territories"],
      ...["products", "order_details", "us_states"],
    ]);
  });

  test("[DS9] tables with one key column become models", () => {
    expect([...found.values()].flatMap((one) => ("model" in one ? [one.modelName] : []))).toEqual([
      ...["customer", "order", "category", "region", "territory", "employee", "product", "usState"],
    ]);
  });

  test.each([
    ["categories", "category_id", "categoryName string required, description string nullable"],
    [
      "customers",
      "customer_id",
      "companyName string required, contactName string nullable, contactTitle string nullable, " +
        "address string nullable, city string nullable, region string nullable, postalCode string nullable, " +
        "country string nullable, phone string nullable, fax string nullable",
    ],
    ["region", "region_id", "regionDescription string required"],
    ["territories", "territory_id", "territoryDescription string required, regionId integer required"],
    [
      "employees",
      "employee_id",
      "lastName string required, firstName string required, title string nullable, " +
        "titleOfCourtesy string nullable, birthDate string nullable, hireDate string nullable, " +
        "address string nullable, city string nullable, region string nullable, postalCode string nullable, " +
        "country string nullable, homePhone string nullable, extension string nullable, notes string nullable, " +
        "reportsTo integer nullable, photoPath string nullable",
    ],
    [
      "products",
      "product_id",
      "productName string required, supplierId integer nullable, categoryId integer nullable, " +
        "quantityPerUnit string nullable, unitPrice number nullable, unitsInStock integer nullable, " +
        "unitsOnOrder integer nullable, reorderLevel integer nullable, discontinued integer required",
    ],
    [
      "orders",
      "order_id",
      "customerId string nullable → customer, employeeId integer nullable, orderDate string nullable, " +
        "requiredDate string nullable, shippedDate string nullable, shipVia integer nullable, " +
        "freight number nullable, shipName string nullable, shipAddress string nullable, shipCity string nullable, " +
        "shipRegion string nullable, shipPostalCode string nullable, shipCountry string nullable",
    ],
    ["us_states", "state_id", "stateName string nullable, stateAbbr string nullable, stateRegion string nullable"],
  ])("[DS9] the fields of %s, whose key is %s", (name, key, fields) => {
    const one = attachable(found, name);
    expect(fieldsOf(one)).toBe(fields);
    expect(one.keyColumn).toBe(key);
    expect(one.model.table).toEqual({ name: `northwind.${name}`, key });
  });

  test("[DS9] the models are a valid schema, and the rows fit them", async () => {
    const models = [...found.values()].flatMap((one) => ("model" in one ? [one] : []));
    expect(checkSchema({ models: Object.fromEntries(models.map((one) => [one.modelName, one.model])) })).toBe(
      undefined,
    );
    for (const one of models)
      for (const { id, misfits } of await recordsOf(one)) expect(misfits, `${one.modelName} ${id}`).toEqual([]);
    const [order] = await recordsOf(attachable(found, "orders"));
    expect(order?.id).toBe("10248");
    expect(order?.data).toEqual({
      ...{ customerId: "ANNEB", employeeId: 1, orderDate: "1996-07-04", requiredDate: "1996-08-01", freight: 32.38 },
      ...{ shippedDate: "1996-07-16", shipVia: 2, shipName: "Anne's Bakery", shipAddress: null, shipCity: "Malmö" },
      ...{ shipRegion: null, shipPostalCode: null, shipCountry: "Sweden" },
    });
  });
});

describe("Pagila", () => {
  let found: ReadonlyMap<string, DerivedTable>;

  beforeAll(async () => {
    await pool.query(`${sample("pagila")}; set search_path = pagila;
      create view film_list as select film_id as fid, title from film;
      create materialized view rental_by_category as select count(*) from rental;
      reset search_path`);
    found = await inspect("pagila", [
      ...["film", "language", "category", "film_category", "store", "staff", "customer", "rental"],
      ...["payment", "payment_p2022_01", "film_list", "rental_by_category"],
    ]);
  });

  test("[DS9] ordinary tables with one key column become models", () => {
    expect([...found.values()].flatMap((one) => ("model" in one ? [one.modelName] : []))).toEqual([
      ...["film", "language", "category", "store", "staff", "customer", "rental"],
    ]);
  });

  test.each([
    [
      "film",
      "title string required, description string nullable, releaseYear integer nullable, " +
        "languageId integer required, originalLanguageId integer nullable, rentalDuration integer = 3, " +
        'rentalRate string = "4.99", length integer nullable, replacementCost string = "19.99", ' +
        'rating enum nullable G|PG|PG-13|R|NC-17 = "G", lastUpdate datetime, specialFeatures array nullable',
    ],
    ["language", "name string required, lastUpdate datetime"],
    ["category", "name string required, lastUpdate datetime"],
    ["store", "managerStaffId integer required, addressId integer required, lastUpdate datetime"],
    [
      "staff",
      "firstName string required, lastName string required, addressId integer required, email string nullable, " +
        "storeId integer required, active boolean = true, username string required, password string nullable, " +
        "lastUpdate datetime",
    ],
    [
      "customer",
      "storeId integer required, firstName string required, lastName string required, email string nullable, " +
        "addressId integer required, activebool boolean = true, createDate string, lastUpdate datetime nullable, " +
        "active integer nullable",
    ],
    [
      "rental",
      "rentalDate datetime required, inventoryId integer required, customerId integer required, " +
        "returnDate datetime nullable, staffId integer required, lastUpdate datetime",
    ],
  ])("[DS9] the fields of %s", (name, fields) => {
    const one = attachable(found, name);
    expect(fieldsOf(one)).toBe(fields);
    expect(one.model.table).toEqual({ name: `pagila.${name}`, key: `${name}_id` });
  });

  test("[DS9] notes tell where the database makes the ids, and where other models' ids are numbers", () => {
    expect(attachable(found, "rental").notes).toEqual([
      "The database makes the ids (rental_id): create records in SQL. Clients can update and delete them.",
      "customerId, staffId: numbers that reference other models. Ids are strings: use get(String(customerId)).",
    ]);
  });

  test("[DS9] the models are a valid schema, and the rows fit them", async () => {
    const models = [...found.values()].flatMap((one) => ("model" in one ? [one] : []));
    expect(checkSchema({ models: Object.fromEntries(models.map((one) => [one.modelName, one.model])) })).toBe(
      undefined,
    );
    for (const one of models)
      for (const { id, misfits } of await recordsOf(one)) expect(misfits, `${one.modelName} ${id}`).toEqual([]);
    const [first, second] = await recordsOf(attachable(found, "film"));
    expect(first?.data).toMatchObject({
      ...{
        rentalRate: "0.90",
        rating: "PG-13",
        releaseYear: 2006,
      },
      ...{ lastUpdate: "2022-09-10T16:46:03.905795Z", specialFeatures: ["Trailers", "Deleted Scenes"] },
    });
    expect(second?.data).toMatchObject({ rentalRate: "4.99", rentalDuration: 3, rating: null, specialFeatures: null });
  });
});

test("[DS9] whatever a column's type, default and checks are, the default fills a row as the field's default does", async () => {
  await pool.query(`create schema shop; set search_path = shop, public;
    create type size as enum ('small', 'it''s big');
    create domain state as text check (value in ('new', 'old'));
    create table thing (id uuid primary key default gen_random_uuid(), a text default 'it''s', b varchar(9) default 'x',
      c char(4) default 'ab', d uuid default 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', e int2 default -5, f int4 default 7,
      g int8 default 9007199254740991, h float4 default 0.5, i float8 default -1e3, j numeric default 12345678901234567890.10,
      k bool default true, l bool default false, m date default '2026-01-31', n json default '{"b": 1, "a": [null]}',
      o jsonb default '[]', p size default 'it''s big', q state default 'new', r text[] default '{}',
      s text[] default array['a', 'b, c'], t int[] default array[]::int[], u text default 'a' check (u in ('a', 'b')),
      v varchar(5) default 'b' check (v in ('a', 'b')), w char(1) default 'y' check (w in ('y', 'n')),
      x char(2) check (x in ('y', 'n')), y text default 'z' check (y = 'z'),
      z text default 'back\\slash');
    create table sparse (id text primary key, b timestamptz default '2026-01-31 00:00:00+01',
      c timestamp default now(), d text default current_user, e text default 'a' || 'b', f text[] default '{a,b}',
      g int8 default 9007199254740993, h float8 default 'NaN', i interval default '1 day', j inet default '::1/128');
    insert into thing default values; reset search_path`);
  const found = await inspect("shop", ["thing", "sparse"]);
  const thing = attachable(found, "thing");
  const [row] = await recordsOf(thing);
  expect(row?.misfits).toEqual([]);
  for (const [name, field] of Object.entries(thing.model.fields))
    if (name !== "x") expect(field.default, name).toEqual(row?.data[name]);
  const enums = Object.entries(thing.model.fields).filter(([, { type }]) => type === "enum");
  expect(enums.map(([name, { values }]) => `${name}: ${values?.join("|")}`)).toEqual([
    ...["p: small|it's big", "q: new|old", "u: a|b", "v: a|b", "w: y|n", "y: z"],
  ]);
  const sparse = Object.values(attachable(found, "sparse").model.fields);
  expect(sparse.map((field) => field.default)).toEqual(sparse.map(() => undefined));
});
