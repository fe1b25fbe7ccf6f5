import pg from "pg";
import { expect, test } from "vitest";
import { startWithTables } from "../../../testing/attached-tables.ts";
import { untilBlocked } from "../../../testing/waiting/blocked.ts";
import { attachAndFollow } from "../../../testing/waiting/follow-tables.ts";
import { verifyTable } from "./verify-table.ts";

const tables = await startWithTables();
const { app, db, pool, tenant } = tables;
const attached = (statements: string, columns: Parameters<typeof attachAndFollow>[2]) =>
  attachAndFollow(tables, statements, columns);

const title = { title: {} };
const titleAndCount = { title: {}, n: { type: "integer" } } as const;

interface CopyConnection {
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

/** `copy … from stdin`, as a driver sends it. */
const copyIn = (statement: string, lines: readonly string[]) =>
  new Promise<void>((resolve, reject) => {
    db.query(
      Object.assign(new pg.Query(statement), {
        handleCopyInResponse(connection: CopyConnection) {
          for (const line of lines) connection.sendCopyFromChunk(Buffer.from(`${line}\n`));
          connection.endCopyFrom();
        },
        callback: (error: Error | null) => (error ? reject(error) : resolve()),
      }),
    );
  });

test("[DS3] COPY from a driver's stream: one commit, whole, or nothing", async () => {
  const log = await attached(
    `create table public.loaded (id int primary key, title text, n int default 7);
      create table public.ranges (id int primary key, title text) partition by range (id);
      create table public.range_low partition of ranges for values from (0) to (10);
      create table public.range_high partition of ranges default`,
    { loaded: titleAndCount, ranges: title },
  );
  await copyIn("copy public.loaded (id, title) from stdin", ["1\tOne", "2\t\\N", "3\tTab\\there"]);
  await copyIn("copy public.loaded from stdin with (format csv, header)", ["id,title,n", '4,"a, b",', "5,,5"]);
  await expect(copyIn("copy public.loaded from stdin", ["6\tSix\t6", "1\tAgain\t1"])).rejects.toThrow("duplicate key");
  await db.query("begin; update loaded set n = 8 where id = 1");
  await copyIn("copy public.loaded from stdin", ["7\tSeven\t7"]);
  await copyIn("copy public.ranges from stdin", ["5\tLow", "50\tHigh"]);
  await db.query("commit");
  expect(await log.bySql()).toEqual([
    ["created loaded/1 title=One n=7", "created loaded/2 n=7", "created loaded/3 title=Tab\there n=7"],
    ["created loaded/4 title=a, b", "created loaded/5 n=5"],
    [
      "updated loaded/1 n=8",
      "created loaded/7 title=Seven n=7",
      "created ranges/5 title=Low",
      "created ranges/50 title=High",
    ],
  ]);
  await log.expectEqual();
});

test("[DS3] [DS42] rows that move between partitions, and partitions that come and go", async () => {
  const log = await attached(
    `create table public.places (id int primary key, title text) partition by range (id);
      create table public.place_a partition of places for values from (0) to (10);
      create table public.place_b partition of places for values from (10) to (20) partition by range (id);
      create table public.place_b1 partition of place_b for values from (10) to (15);
      create table public.place_b2 partition of place_b for values from (15) to (20);
      insert into places values (1, 'One'), (2, 'Two'), (11, 'Eleven'), (16, 'Sixteen')`,
    { places: title },
  );
  await db.query("update places set id = id + 11 where id < 3");
  await db.query("update place_b set id = 18, title = 'Moved' where id = 11");
  await db.query("insert into places values (13, 'Taken') on conflict (id) do update set title = excluded.title");
  await db.query("truncate place_b2");
  expect((await log.bySql()).map((one) => one.toSorted())).toEqual([
    ["created places/12 title=One", "created places/13 title=Two", "deleted places/1", "deleted places/2"],
    ["created places/18 title=Moved", "deleted places/11"],
    ["updated places/13 title=Taken"],
    ["deleted places/16", "deleted places/18"],
  ]);
  await db.query("create table public.place_c partition of places for values from (20) to (30)");
  await db.query("insert into places values (20, 'Through the table')");
  expect(await log.bySql()).toEqual([["created places/20 title=Through the table"]]);
  await log.expectEqual();

  // A new partition has no triggers of its own, and one that comes or goes is no write.
  await db.query("insert into place_c values (21, 'Straight')");
  await db.query(
    "create table public.place_d (id int primary key, title text); insert into place_d values (31, 'Ready')",
  );
  await db.query("alter table places attach partition place_d for values from (30) to (40)");
  await db.query("alter table place_b detach partition place_b1");
  await db.query("insert into place_b1 values (14, 'Apart'); update place_b1 set title = 'Apart'; truncate place_b1");
  expect(await log.bySql()).toEqual([]);
  const counts = { rows: 3, different: 0, extra: 2 };
  expect(await verifyTable(pool, tenant, "places")).toMatchObject({ ...counts, repaired: 0 });
  expect(await verifyTable(pool, tenant, "places", { repair: true })).toMatchObject({ ...counts, repaired: 2 });
  expect((await log.bySql()).flat().toSorted()).toEqual(["deleted places/12", "deleted places/13"]);
  // Clients read all rows again, also those that the log has never named.
  const { body } = await app.call("GET", "/v1/models/places");
  expect((body.data as { id: string }[]).map(({ id }) => id)).toEqual(["20", "21", "31"]);
  // From now on their own triggers tell of them.
  await db.query(
    "insert into place_c values (22, 'Straight again'); insert into place_d values (32, 'Straight again')",
  );
  await db.query("delete from place_c where id = 22");
  expect((await log.bySql()).map((one) => one.toSorted())).toEqual([
    ["created places/22 title=Straight again", "created places/32 title=Straight again"],
    ["deleted places/22"],
  ]);
  await db.query("alter table places detach partition place_b; insert into place_b2 values (17, 'Apart')");
  expect(await log.bySql()).toEqual([]);
});

test("[DS5] [DS10] what a session that applies replicated changes writes without triggers is found by verify, and mended", async () => {
  const log = await attached("create table public.copies (id int primary key, title text, n int)", {
    copies: titleAndCount,
  });
  await db.query("insert into copies select n, 'Copy ' || n, n from generate_series(1, 5) n");
  expect((await log.bySql()).flat()).toHaveLength(5);
  // As they are where Holdfast's role does not own the table.
  for (const name of ["insert", "update", "delete", "truncate", "key"])
    await db.query(`alter table copies enable trigger holdfast_${name}`);
  await db.query("begin; set local session_replication_role = replica");
  await db.query("update copies set title = 'Changed', n = n where id < 3; update copies set n = n where id = 3");
  await db.query(
    "delete from copies where id = 4; update copies set id = 50 where id = 5; insert into copies values (6, 'New')",
  );
  await db.query("commit");
  expect(await log.bySql()).toEqual([]);
  const counts = { rows: 5, different: 2, extra: 2 };
  expect(await verifyTable(pool, tenant, "copies")).toMatchObject({ ...counts, repaired: 0 });
  expect(await verifyTable(pool, tenant, "copies", { repair: true })).toMatchObject({ ...counts, repaired: 4 });
  const mended = (await log.bySql()).flat().map((one) => one.split(" ").slice(0, 2).join(" "));
  expect(mended.toSorted()).toEqual([
    ...["deleted copies/4", "deleted copies/5", "updated copies/1", "updated copies/2"],
  ]);
  expect(await verifyTable(pool, tenant, "copies")).toMatchObject({
    rows: 5,
    different: 0,
    extra: 0,
    repaired: 0,
  });
});

const [prepared] = await app.sql<{ most: string }>("select current_setting('max_prepared_transactions') as most");

test.skipIf(prepared?.most === "0")(
  "[DS2] [DS8] a prepared transaction is in the log once it is committed, before what waited for its rows (skipped where Postgres does not allow it)",
  async () => {
    const log = await attached(
      `create table public.accounts (id text primary key, n int);
        create function public.check_account() returns trigger language plpgsql as $$
          begin update public.accounts set n = 0 where id = new.id and n < 0; return null; end $$;
        create trigger check_account after update on accounts for each row execute function check_account();
        insert into accounts values ('a', 10), ('b', 20), ('c', 30)`,
      { accounts: { n: { type: "integer" } } },
    );
    const name = (what: string) => `'${what} of ${tenant} in ${new URL(app.databaseUrl).pathname}'`;
    await db.query("begin; update accounts set n = n - 5 where id = 'a'; update accounts set n = -1 where id = 'b'");
    await db.query(`prepare transaction ${name("moved")}`);
    await db.query("begin; delete from accounts where id = 'c'; insert into accounts values ('d', 40)");
    await db.query(`prepare transaction ${name("given up")}`);
    await db.query("insert into accounts values ('e', 50)");
    const other = await app.connect();
    const waiting = other.query("update accounts set n = n + 100 where id = 'a' returning n");
    await untilBlocked(app);
    expect(await log.bySql()).toEqual([["created accounts/e n=50"]]);
    await db.query(`rollback prepared ${name("given up")}`);
    await db.query(`commit prepared ${name("moved")}`);
    expect((await waiting).rows).toEqual([{ n: 105 }]);
    const [moved, waited] = await log.bySql();
    expect(moved?.toSorted()).toEqual(["updated accounts/a n=5", "updated accounts/b n=0"]);
    expect(waited).toEqual(["updated accounts/a n=105"]);
    await log.expectEqual();
  },
);
