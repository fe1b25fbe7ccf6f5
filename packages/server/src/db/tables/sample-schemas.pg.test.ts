import { type Field, fits } from "@holdfast/sdk/protocol";
import { beforeAll, describe, expect, test } from "vitest";
import { checkSchema } from "../../rules/schema/schema-push.ts";
import { type DerivedTable, deriveModels } from "../../rules/tables/derive-models.ts";
import { readRowImage } from "../../rules/tables/row-image.ts";
import { freshPool } from "../../testing/fresh-connection.ts";
import { readCatalog } from "./catalog.ts";
import { readTableRows } from "./table-rows.ts";

// Tables after the definitions of the Northwind and Pagila sample schemas, shortened, in our own words.

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

function problemOf(found: ReadonlyMap<string, DerivedTable>, name: string): string | undefined {
  const one = found.get(name);
  return one && "problem" in one ? one.problem : undefined;
}

const fieldsOf = ({ model }: Attachable): string[] => Object.entries(model.fields).map(spelled);

/** Each row as a record, with the fields whose value is not of the field's type. */
async function recordsOf({ table, columns, keyColumn, model }: Attachable) {
  const keyType = table.columns.find(({ name }) => name === keyColumn)?.type ?? "";
  const images = await readTableRows(pool, { keyColumn }, { name: table.sqlName, keyType }, null, 100);
  return images.map((image) => {
    const { id, data } = readRowImage(image, { keyColumn, columns });
    const misfits = Object.entries(model.fields).filter(([name, field]) => !fits(field, data[name] ?? null));
    return { id, data, misfits: misfits.map(([name]) => name) };
  });
}

describe("Northwind", () => {
  let found: ReadonlyMap<string, DerivedTable>;

  beforeAll(async () => {
    await pool.query(`create schema northwind; set search_path = northwind;
      create table categories (category_id smallint primary key, category_name varchar(15) not null, description text,
        picture bytea);
      create table customers (customer_id varchar(5) primary key, company_name varchar(40) not null,
        contact_title varchar(30), postal_code varchar(10));
      create table region (region_id smallint primary key, region_description varchar(60) not null);
      create table territories (territory_id varchar(20) primary key, territory_description varchar(60) not null,
        region_id smallint not null references region);
      create table employees (employee_id smallint primary key, last_name varchar(20) not null, birth_date date,
        photo bytea, notes text, reports_to smallint references employees);
      create table employee_territories (employee_id smallint not null references employees,
        territory_id varchar(20) not null references territories, primary key (employee_id, territory_id));
      create table products (product_id smallint primary key, product_name varchar(40) not null,
        category_id smallint references categories, unit_price real, units_in_stock smallint,
        discontinued integer not null);
      create table orders (order_id smallint primary key, customer_id varchar(5) references customers,
        employee_id smallint references employees, order_date date, freight real, ship_name varchar(40));
      create table order_details (order_id smallint not null references orders, product_id smallint not null references products,
        unit_price real not null, quantity smallint not null, discount real not null, primary key (order_id, product_id));
      create table us_states (state_id smallint primary key, state_name varchar(100), state_abbr varchar(2));
      insert into categories values (1, 'Beverages', 'Soft drinks', '\\x15'), (2, 'Sweets', null, null);
      insert into customers values ('AAAAA', 'A Company', 'Owner', null);
      insert into employees values (2, 'Boss', '1952-02-19', null, '', null), (1, 'Clerk', null, null, null, 2);
      insert into products values (1, 'Tea', 1, 18.5, 39, 1);
      insert into orders values (10248, 'AAAAA', 1, '1996-07-04', 32.38, 'A ship');
      reset search_path`);
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

  test("[DS9] tables with two key columns do not", () => {
    expect(problemOf(found, "employee_territories")).toMatch(
      /^Its primary key has 2 columns \(employee_id, territory_id\)/,
    );
    expect(problemOf(found, "order_details")).toMatch(/^Its primary key has 2 columns \(order_id, product_id\)/);
  });

  test.each([
    ["categories", "category_id", ["categoryName string required", "description string nullable"]],
    [
      "customers",
      "customer_id",
      ["companyName string required", "contactTitle string nullable", "postalCode string nullable"],
    ],
    ["region", "region_id", ["regionDescription string required"]],
    ["territories", "territory_id", ["territoryDescription string required", "regionId integer required"]],
    [
      "employees",
      "employee_id",
      ["lastName string required", "birthDate string nullable", "notes string nullable", "reportsTo integer nullable"],
    ],
    [
      "products",
      "product_id",
      [
        ...["productName string required", "categoryId integer nullable", "unitPrice number nullable"],
        ...["unitsInStock integer nullable", "discontinued integer required"],
      ],
    ],
    [
      "orders",
      "order_id",
      [
        ...["customerId string nullable → customer", "employeeId integer nullable", "orderDate string nullable"],
        ...["freight number nullable", "shipName string nullable"],
      ],
    ],
    ["us_states", "state_id", ["stateName string nullable", "stateAbbr string nullable"]],
  ])("[DS9] the fields of %s, whose key is %s", (name, key, fields) => {
    const one = attachable(found, name);
    expect(fieldsOf(one)).toEqual(fields);
    expect(one.keyColumn).toBe(key);
    expect(one.model.table).toEqual({ name: `northwind.${name}`, key });
  });

  test("[DS9] pictures are left out, and nothing else needs a note", () => {
    expect(attachable(found, "categories").notes).toEqual([expect.stringMatching(/^picture is bytea and left out: /)]);
    expect(attachable(found, "employees").notes).toEqual([expect.stringMatching(/^photo is bytea and left out: /)]);
    for (const name of ["customers", "region", "territories", "products", "orders", "us_states"])
      expect(attachable(found, name).notes, name).toEqual([]);
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
      ...{ customerId: "AAAAA", employeeId: 1, orderDate: "1996-07-04", freight: 32.38, shipName: "A ship" },
    });
  });
});

describe("Pagila", () => {
  let found: ReadonlyMap<string, DerivedTable>;

  beforeAll(async () => {
    await pool.query(`create schema pagila; set search_path = pagila;
      create type mpaa_rating as enum ('G', 'PG', 'PG-13', 'R', 'NC-17');
      create domain year as integer check (value >= 1901 and value <= 2155);
      create table language (language_id serial primary key, name character(20) not null,
        last_update timestamptz not null default now());
      create table category (category_id serial primary key, name text not null,
        last_update timestamptz not null default now());
      create table film (film_id serial primary key, title text not null, description text, release_year year,
        language_id integer not null references language, rental_duration smallint not null default 3,
        rental_rate numeric(4, 2) not null default 4.99, length smallint, rating mpaa_rating default 'G',
        last_update timestamptz not null default now(), special_features text[], fulltext tsvector not null);
      create table film_category (film_id integer references film, category_id integer references category,
        primary key (film_id, category_id));
      create table store (store_id serial primary key, manager_staff_id integer not null);
      create table staff (staff_id serial primary key, first_name text not null, store_id integer not null references store,
        active boolean not null default true, username text not null, picture bytea);
      alter table store add foreign key (manager_staff_id) references staff;
      create table customer (customer_id serial primary key, store_id integer not null references store, email text,
        activebool boolean not null default true, create_date date not null default current_date, active integer);
      create table rental (rental_id serial primary key, rental_date timestamptz not null,
        customer_id integer not null references customer, return_date timestamptz);
      create table payment (payment_id serial, rental_id integer not null, amount numeric(5, 2) not null,
        payment_date timestamptz not null, primary key (payment_date, payment_id)) partition by range (payment_date);
      create table payment_p2022_01 partition of payment for values from ('2022-01-01') to ('2022-02-01');
      create view film_list as select film_id as fid, title from film;
      create materialized view rental_by_category as select count(*) from rental;
      insert into language (name) values ('English');
      insert into film values (1, 'Academy', null, 2006, 1, 6, 0.90, 86, 'PG-13', '2022-09-10 16:46:03.905795+00',
        '{Trailers,"Deleted Scenes"}', 'academy:1'), (2, 'Ace', '', null, 1, default, default, null, null, default, null, '');
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

  test("[DS9] the others have a problem each", () => {
    expect(problemOf(found, "film_category")).toMatch(/^Its primary key has 2 columns \(film_id, category_id\)/);
    expect(problemOf(found, "payment")).toMatch(/^Its primary key has 2 columns \(payment_date, payment_id\)/);
    expect(problemOf(found, "payment_p2022_01")).toMatch(/^It is a partition of pagila\.payment: /);
    expect(problemOf(found, "film_list")).toMatch(/^It is a view/);
    expect(problemOf(found, "rental_by_category")).toMatch(/^It is a materialized view/);
  });

  test.each([
    [
      "film",
      [
        ...["title string required", "description string nullable", "releaseYear integer nullable"],
        ...["languageId integer required", "rentalDuration integer = 3", `rentalRate string = "4.99"`],
        ...["length integer nullable", `rating enum nullable G|PG|PG-13|R|NC-17 = "G"`, "lastUpdate datetime"],
        ...["specialFeatures array nullable", "fulltext string required"],
      ],
    ],
    ["language", ["name string required", "lastUpdate datetime"]],
    ["category", ["name string required", "lastUpdate datetime"]],
    ["store", ["managerStaffId integer required"]],
    [
      "staff",
      ["firstName string required", "storeId integer required", "active boolean = true", "username string required"],
    ],
    [
      "customer",
      [
        ...["storeId integer required", "email string nullable", "activebool boolean = true", "createDate string"],
        "active integer nullable",
      ],
    ],
    ["rental", ["rentalDate datetime required", "customerId integer required", "returnDate datetime nullable"]],
  ])("[DS9] the fields of %s", (name, fields) => {
    const one = attachable(found, name);
    expect(fieldsOf(one)).toEqual(fields);
    expect(one.model.table).toEqual({ name: `pagila.${name}`, key: `${name}_id` });
  });

  test("[DS9] notes tell of numeric, of a type without its own kind of field, and of pictures", () => {
    expect(attachable(found, "film").notes).toEqual([
      expect.stringMatching(/^rental_rate is numeric: /),
      "fulltext is tsvector: its field is a string, as Postgres writes it.",
    ]);
    expect(attachable(found, "staff").notes).toEqual([expect.stringMatching(/^picture is bytea and left out: /)]);
    for (const name of ["language", "category", "store", "customer", "rental"])
      expect(attachable(found, name).notes, name).toEqual([]);
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
      ...{ rentalRate: "0.90", rating: "PG-13", releaseYear: 2006, fulltext: "'academy':1" },
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
