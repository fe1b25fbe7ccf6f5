import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { checkSchema } from "../../../kernel/schema/rules/schema-push.ts";
import { startWithTables } from "../../../testing/attached-tables.ts";
import { commandLine } from "../../../testing/programs/command-line.ts";
import { followTables } from "../../../testing/waiting/follow-tables.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-samples-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/**
 * Attaches the tables of a sample schema one after the other, with what `inspect` prints. A refused table gets the
 * statement of its sentence, or what the sentence asks for (`edits`). Returns those sentences, and what follows the tables.
 */
async function attachSample(schema: string, names: readonly string[], edits: Readonly<Record<string, string>> = {}) {
  const tables = await startWithTables();
  const { app, db } = tables;
  // The tests' organization has models of its own.
  await app.call("POST", "/v1/schema", { json: { models: { other: { fields: {} } }, force: true } });
  await db.query(readFileSync(new URL(`../../../testing/sample-schemas/${schema}.sql`, import.meta.url), "utf8"));
  const cli = commandLine(app, folder);
  const asked: string[] = [];
  const notes: string[] = [];
  const models: string[] = [];
  const linesOf = (text: string, start: string) => text.split("\n").filter((line) => line.startsWith(start));
  for (const name of names.map((one) => `${schema}.${one}`)) {
    let { code, out, err } = await cli.run("tables", "inspect", name);
    if (code !== 0) {
      const refused = linesOf(err, "refused: ");
      asked.push(...refused);
      const [, statement] = /: run "(.*)"\.$/.exec(refused[0] ?? "") ?? [];
      await db.query(statement ?? edits[name] ?? "");
      ({ code, out, err } = await cli.run("tables", "inspect", name));
    }
    expect(code, err).toBe(0);
    notes.push(...linesOf(err, "note: "));
    const printed = JSON.parse(out);
    expect(checkSchema(printed)).toBe(undefined);
    const attached = await cli.run("tables", "attach", name, "--yes", "--org", app.organization);
    expect(attached.code, attached.err).toBe(0);
    const { body } = await app.call("GET", "/v1/schema");
    expect(body.models).toMatchObject(printed.models);
    models.push(...Object.keys(printed.models));
  }
  return { ...tables, asked, notes, models, log: await followTables(tables, models) };
}

const uuid = (n: number) => `6f1c7a52-3c1e-4b60-9a39-0d5f1c2b7e${String(n).padStart(2, "0")}`;

const keyOfTwo = (table: string, constraint: string, columns: string) =>
  `refused: ${table}: Its primary key has 2 columns (${columns}), and a record has one id: run "alter table ${table} drop constraint ${constraint}, add column id uuid primary key default gen_random_uuid(), add unique (${columns})".`;

test("[DS41] Northwind is attached table by table, and written by clients and SQL", async () => {
  const northwind = await attachSample("northwind", [
    ...["categories", "customer_demographics", "customers", "customer_customer_demo", "employees", "suppliers"],
    ...["products", "region", "shippers", "orders", "territories", "employee_territories", "order_details"],
    ...["us_states"],
  ]);
  const { db, asked, notes, models, log, create, update, remove, commit } = northwind;
  expect(asked).toEqual([
    keyOfTwo("northwind.customer_customer_demo", "pk_customer_customer_demo", "customer_id, customer_type_id"),
    keyOfTwo("northwind.employee_territories", "pk_employee_territories", "employee_id, territory_id"),
    keyOfTwo("northwind.order_details", "pk_order_details", "order_id, product_id"),
  ]);
  expect(notes).toEqual([
    expect.stringMatching(/^note: northwind\.categories: picture is bytea and left out: /),
    expect.stringMatching(/^note: northwind\.employees: photo is bytea and left out: /),
    expect.stringMatching(/^note: northwind\.employees: reportsTo: numbers that reference other models/),
  ]);
  expect(models).toEqual([
    ...["category", "customerDemographic", "customer", "customerCustomerDemo", "employee", "supplier", "product"],
    ...["region"],
    ...["shipper", "order", "territory", "employeeTerritory", "orderDetail", "usState"],
  ]);
  await log.expectEqual();

  const made = await commit([
    {
      action: "create",
      model: "order",
      id: "10250",
      data: { customerId: "CORNR", shipVia: 1, freight: 65.83, orderDate: "1996-07-08" },
    },
    {
      action: "create",
      model: "orderDetail",
      id: uuid(1),
      data: { orderId: 10250, productId: 1, unitPrice: 7.7, quantity: 10, discount: 0 },
    },
    {
      action: "create",
      model: "orderDetail",
      id: uuid(2),
      data: { orderId: 10250, productId: 3, unitPrice: 42.4, quantity: 35, discount: 0.15 },
    },
  ]);
  expect(made.status, made.text).toBe(200);
  expect((await update("product", "1", { unitPrice: 0.123456789, quantityPerUnit: null })).status).toBe(200);
  expect((await create("category", "4", { categoryName: "Gewürze" })).status).toBe(200);
  expect((await remove("territory", "29202")).body.source).toMatchObject({ sqlstate: "23503" });
  expect((await update("usState", "1", { stateAbbr: "ALA" })).body).toMatchObject({ rule: "maxLength" });
  expect((await create("region", "40000", { regionDescription: "East" })).status).toBe(400);
  expect(
    (await create("orderDetail", uuid(3), { orderId: 10250, productId: 3, unitPrice: 1, quantity: 1, discount: 0 }))
      .body.code,
  ).toBe("not_unique");
  const byClients = await log.commits();
  expect(byClients.map(({ entries }) => entries)).toEqual([
    [
      "created order/10250 customerId=CORNR orderDate=1996-07-08 shipVia=1 freight=65.83",
      `created orderDetail/${uuid(1)} orderId=10250 productId=1 unitPrice=7.7 quantity=10 discount=0`,
      `created orderDetail/${uuid(2)} orderId=10250 productId=3 unitPrice=42.4 quantity=35 discount=0.15`,
    ],
    ["updated product/1 quantityPerUnit=null unitPrice=0.12345679"],
    ["created category/4 categoryName=Gewürze"],
  ]);

  await db.query("set search_path = northwind");
  await db.query("update products set unit_price = unit_price * 2 where supplier_id = 1");
  await db.query(
    "begin; delete from order_details where order_id = 10248; delete from orders where order_id = 10248; commit",
  );
  await db.query("update employees set reports_to = null, photo = '\\x00ff' where reports_to = 2 and employee_id = 3");
  await db.query("update categories set picture = null");
  await db.query(
    "insert into customers (customer_id, company_name) values ('NEWCO', 'New & Co') on conflict do nothing",
  );
  await db.query("truncate us_states");
  await db.query("reset search_path");
  const bySql = (await log.bySql()).map((entries) =>
    entries.map((told) => told.replaceAll(/[0-9a-f-]{36}/g, "…")).toSorted(),
  );
  expect(bySql).toEqual([
    ["updated product/1 unitPrice=0.24691358", "updated product/2 unitPrice=38"],
    ["deleted order/10248", "deleted orderDetail/…", "deleted orderDetail/…"],
    ["updated employee/3 reportsTo=null"],
    ["created customer/NEWCO companyName=New & Co"],
    ["deleted usState/1", "deleted usState/2"],
  ]);
  await log.expectEqual();
});

test("[DS41] Pagila is attached table by table, and written by clients and SQL", async () => {
  const pagila = await attachSample(
    "pagila",
    [
      ...["actor", "category", "country", "city", "address", "language", "film", "film_actor", "film_category"],
      ...["store"],
      ...["staff", "customer", "inventory", "rental", "payment"],
    ],
    {
      "pagila.payment": `create table pagila.payments (like pagila.payment including defaults, primary key (payment_id),
          foreign key (customer_id) references pagila.customer, foreign key (staff_id) references pagila.staff,
          foreign key (rental_id) references pagila.rental);
        insert into pagila.payments select * from pagila.payment;
        alter sequence pagila.payment_payment_id_seq owned by pagila.payments.payment_id;
        drop table pagila.payment; alter table pagila.payments rename to payment`,
    },
  );
  const { db, asked, notes, models, log, create, update, remove, commit } = pagila;
  expect(asked).toEqual([
    keyOfTwo("pagila.film_actor", "film_actor_pkey", "actor_id, film_id"),
    keyOfTwo("pagila.film_category", "film_category_pkey", "film_id, category_id"),
    "refused: pagila.payment: Its primary key has 2 columns (payment_date, payment_id), and a record has one id. A partitioned table can have a key of one column only if it is partitioned by that column: copy its rows into a table that is, or that is not partitioned.",
  ]);
  const ofKeys = /: (The database makes the ids|.*: numbers that reference other models)/;
  expect(notes.filter((note) => !ofKeys.test(note))).toEqual([
    expect.stringMatching(/^note: pagila\.film: rental_rate is numeric: /),
    expect.stringMatching(/^note: pagila\.film: replacement_cost is numeric: /),
    expect.stringMatching(/^note: pagila\.film: fulltext is tsvector and left out: /),
    expect.stringMatching(/^note: pagila\.staff: picture is bytea and left out: /),
    expect.stringMatching(/^note: pagila\.payment: amount is numeric: /),
  ]);
  expect(models).toEqual([
    ...["actor", "category", "country", "city", "address", "language", "film", "filmActor", "filmCategory", "store"],
    ...["staff", "customer", "inventory", "rental", "payment"],
  ]);
  await log.expectEqual();

  /** When a trigger ran is not known. */
  const timeless = (entries: readonly string[]) =>
    entries
      .map((told) => told.replace(/(?<=lastUpdate=)\d{4}-\S+Z/, "now").replaceAll(/(?<=\/)[0-9a-f-]{36}/g, "…"))
      .toSorted();
  const changed = await update("film", "1", {
    ...{ title: "ACADEMY CATS", rating: "R", rentalRate: "1.5", specialFeatures: ["Trailers", 'a "b", c'] },
    releaseYear: 2155,
  });
  expect(changed.status, changed.text).toBe(200);
  expect((await update("film", "1", { releaseYear: 1900 })).body.source).toMatchObject({ sqlstate: "23514" });
  expect((await update("film", "1", { rating: "X" })).status).toBe(400);
  expect((await update("film", "1", { rentalRate: "1000" })).body.source).toMatchObject({ sqlstate: "22003" });
  expect((await create("film", "10", { title: "NEW", languageId: 1 })).body.code).toBe("client_id_required");
  const both = await commit([
    { action: "create", model: "filmActor", id: uuid(1), data: { actorId: 2, filmId: 1 } },
    { action: "create", model: "filmCategory", id: uuid(2), data: { filmId: 1, categoryId: 2 } },
    { action: "update", model: "language", id: "1", data: { name: "English (US)" } },
  ]);
  expect(both.status, both.text).toBe(200);
  expect((await remove("customer", "1")).body.source).toMatchObject({ sqlstate: "23001" });
  expect((await remove("payment", "2")).status).toBe(200);
  expect((await update("staff", "2", { active: true, password: null })).status).toBe(200);
  expect((await update("customer", "2", { createDate: "2024-02-29", active: 0 })).status).toBe(200);
  const byClients = await log.commits();
  expect(byClients.map(({ entries }) => timeless(entries))).toEqual([
    [
      `updated film/1 title=ACADEMY CATS releaseYear=2155 rentalRate=1.50 rating=R lastUpdate=now specialFeatures=["Trailers","a \\"b\\", c"]`,
    ],
    [
      "created filmActor/… actorId=2 filmId=1 lastUpdate=now",
      "created filmCategory/… filmId=1 categoryId=2 lastUpdate=now",
      "updated language/1 name=English (US)         lastUpdate=now",
    ],
    ["deleted payment/2"],
    ["updated staff/2 active=true password=null lastUpdate=now"],
    ["updated customer/2 createDate=2024-02-29 lastUpdate=now active=0"],
  ]);

  await db.query("set search_path = pagila");
  await db.query(
    "insert into film (title, description, language_id, rating) values ('NIGHT TRAIN', 'Trains at night', 1, default), ('DAY TRAIN', null, 1, 'PG')",
  );
  await db.query("update language set language_id = 20 where language_id = 2");
  await db.query(
    "update film set rental_rate = rental_rate * 2, release_year = null, special_features = special_features || '{New}' where film_id = 3",
  );
  await db.query("update actor set first_name = first_name where actor_id = 1");
  await db.query(
    "with back as (update rental set return_date = '2022-03-01 12:00+01' where return_date is null returning *) insert into payment (customer_id, staff_id, rental_id, amount, payment_date) select customer_id, staff_id, rental_id, 3.5, return_date from back",
  );
  await db.query(
    "begin; delete from payment where rental_id = 1; delete from rental where rental_id = 1; delete from customer where customer_id = 1; commit",
  );
  await db.query("reset search_path");
  expect((await log.bySql()).map(timeless)).toEqual([
    [
      "created film/4 title=NIGHT TRAIN description=Trains at night languageId=1 rentalDuration=3 rentalRate=4.99 replacementCost=19.99 rating=G lastUpdate=now",
      "created film/5 title=DAY TRAIN languageId=1 rentalDuration=3 rentalRate=4.99 replacementCost=19.99 rating=PG lastUpdate=now",
    ],
    [
      "created language/20 name=Français             lastUpdate=now",
      "deleted language/2",
      "updated film/2 languageId=20 lastUpdate=now",
    ],
    [`updated film/3 releaseYear=null rentalRate=24.00 lastUpdate=now specialFeatures=["New"]`],
    ["updated actor/1 lastUpdate=now"],
    [
      "created payment/4 customerId=2 staffId=2 rentalId=2 amount=3.50 paymentDate=2022-03-01T11:00:00.000Z",
      "updated rental/2 returnDate=2022-03-01T11:00:00.000Z lastUpdate=now",
    ],
    ["deleted customer/1", "deleted payment/1", "deleted rental/1"],
  ]);
  await log.expectEqual();
});
