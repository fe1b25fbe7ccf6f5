import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../../../../scripts/testing/until.ts";
import { createPool } from "../kernel/connection/pool.ts";
import { builtInHooks } from "../modules/open-modules.ts";
import { inSentences } from "../modules/tables/flows/require-rights.ts";
import { openTableTools } from "../modules/tables/flows/table-tools.ts";
import { PRIVILEGES, type Privilege } from "../modules/tables/rules/table-rights.ts";
import { startApp } from "../testing/app.ts";
import { freshDatabase } from "../testing/database.ts";
import { commandLine, startCommand } from "../testing/programs/command-line.ts";

/** The page's role, tables and privileges, in a database where a role may do nothing that was not granted. */
const page = readFileSync(new URL("../../../../docs/own-tables.md", import.meta.url), "utf8");
const blocks = [...page.matchAll(/```sql\n(.*?)```/gs)].map(([, text = ""]) => text);
const database = await freshDatabase();
/** Nothing of Holdfast is there, and no role may do anything. */
const other = await freshDatabase();
const name = new URL(database.url).pathname.slice(1);
const role = `role_${name}`;
const owner = new pg.Client({ connectionString: database.url });
await owner.connect();
await owner.query(`drop schema holdfast cascade; revoke all on database ${name} from public;
  revoke all on schema public from public`);
await owner.query(blocks.find((text) => text.includes("create table public.slides")) ?? "");
const granting = blocks.find((text) => text.includes("create role")) ?? "";
await owner.query(granting.replaceAll("holdfast_role", role).replace("database app", `database ${name}`));
const url = new URL(database.url);
[url.username, url.password] = [role, "secret"];
afterAll(async () => {
  await owner.query(`drop owned by ${role} cascade; drop role ${role}`);
  await owner.end();
});

const app = await startApp({ databaseUrl: url.href });
const folder = mkdtempSync(join(tmpdir(), "holdfast-rights-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const cli = commandLine(app, folder);
const tables = (...words: readonly string[]) =>
  cli.run("tables", ...words, ...(words[0] === "inspect" ? [] : ["--org", app.organization]));
/** A command that must end well. */
async function well(...words: readonly string[]): Promise<string> {
  const { code, out, err } = await tables(...words);
  expect(code, err).toBe(0);
  return out;
}

let keys = 0;
const key = () => `key_${keys++}`;
const write = {
  create: (id: string, title = "One", model = "slide") =>
    app.call("POST", `/v1/models/${model}`, { key: key(), json: { id, data: { title, deckId: DECK } } }),
  update: (id: string, title = "Two", model = "slide") =>
    app.call("PATCH", `/v1/models/${model}/${id}`, { key: key(), json: { data: { title } } }),
  delete: (id: string, model = "slide") => app.call("DELETE", `/v1/models/${model}/${id}`, { key: key() }),
};
const DECK = "6f1c7a52-3c1e-4b60-9a39-0d5f1c2b7e11";
const titleOf = async (id: string, model = "slide") =>
  ((await app.call("GET", `/v1/models/${model}/${id}`)).body.data as { title?: string } | undefined)?.title;
const triggersOf = async (table: string) =>
  (await owner.query("select tgname from pg_trigger where tgrelid = $1::regclass and not tgisinternal", [table])).rows;

const grant = (what: "grant" | "revoke", privilege: Privilege, on = "public.decks, public.slides") =>
  owner.query(
    `${what} ${privilege} on ${privilege === "usage" ? "schema public" : on} ${what === "grant" ? "to" : "from"} ${role}`,
  );
const without = async <T>(privilege: Privilege, work: () => Promise<T>): Promise<T> => {
  await grant("revoke", privilege);
  return work().finally(() => grant("grant", privilege));
};

beforeAll(async () => {
  // The tests' organization has a model called slide: the page's has none.
  await app.call("POST", "/v1/schema", { json: { models: { other: { fields: {} } }, force: true } });
});

test("[DS36] a role with the page's privileges alone runs every command, and serves clients and the owner's SQL", async () => {
  expect(await well("inspect", "public.decks", "public.slides")).toContain('"slide"');
  expect(await well("attach", "public.decks", "public.slides", "--yes")).toContain("attached: public.slides as slide");
  expect((await write.create("a")).status).toBe(200);
  expect((await write.update("a")).status).toBe(200);
  await owner.query(`insert into slides values ('b', '${DECK}', 'By SQL')`);
  await until(async () => (await titleOf("b")) === "By SQL");
  expect((await owner.query("select title from slides where id = 'a'")).rows).toEqual([{ title: "Two" }]);
  expect((await write.delete("a")).status).toBe(200);
  expect(await well("verify")).toContain("slide: 2 rows, equal");
  await owner.query(`alter table slides disable trigger user; update slides set title = 'Unseen' where id = 'b';
    delete from slides where id = 's1'; alter table slides enable trigger user`);
  expect(await well("verify", "slide", "--repair")).toContain("1 repaired");
  await until(async () => (await titleOf("b")) === "Unseen");
  expect(await well("verify", "slide")).toBe("slide: 1 rows, equal\n");
  expect(await well("detach", "slide", "--yes")).toBe("detached: slide; its records stay\n");
  expect(await triggersOf("public.slides")).toEqual([]);
  expect(await well("detach", "deck", "--yes")).toBe("detached: deck; its records stay\n");
  expect((await write.update("b", "Held by Holdfast")).status).toBe(200);
  await write.delete("b");
  await owner.query("delete from slides");
});

/** The page's table: what each thing needs. */
const needs = [...page.matchAll(/^\| (`?(?:tables|clients|your SQL) .*?) +\|(.*?)\|(.*?)\|$/gm)].map(
  ([, what = "", onSchema = "", onTable = ""]) => ({
    what: what.replaceAll("`", "").trim(),
    needed: [...`${onSchema}${onTable}`.matchAll(/`(\w+)`/g)].map(([, one]) => one as Privilege),
  }),
);

test("[DS36] the page says of each command and of each write what it needs", () => {
  expect(needs.map(({ what }) => what)).toEqual([
    ...["tables inspect", "tables attach", "tables attach --emit", "tables verify", "tables verify --repair"],
    "tables detach",
    ...["tables detach --drop", "clients create records", "clients update records", "clients delete records"],
    ...["clients read records", "your SQL reaches clients"],
  ]);
});

const commands = needs.filter(({ what }) => what.startsWith("tables"));
/** The table is empty, so a model that has lost its table gets it again. */
const reset = async (isAttached: boolean) => {
  const attached = (await app.sql("select from holdfast.attached_table where model = 'slide'")).length > 0;
  if (isAttached && !attached) await well("attach", "public.slides", "--yes");
  if (!isAttached && attached) await well("detach", "slide", "--yes");
};
const wordsOf = (what: string): readonly string[] => {
  const [command = "", ...options] = what.split(" ").slice(1);
  if (command === "inspect" || command === "attach") return [command, "public.slides", ...options, ...yes(command)];
  return [command, "slide", ...options, ...yes(command)];
};
const yes = (command: string) => (command === "attach" || command === "detach" ? ["--yes"] : []);

test.each(commands)(
  "[DS36] [DS109] without any one privilege, $what does all of it or says which one it lacks",
  async ({ what, needed }) => {
    for (const privilege of PRIVILEGES) {
      await reset(!/inspect|attach/.test(what.replace("detach", "")));
      const before = await app.sql("select model, status from holdfast.attached_table order by 1");
      const { code, out, err } = await without(privilege, () => tables(...wordsOf(what)));
      const lacks = needed.includes(privilege);
      expect(code, `${what} without ${privilege}: ${err}`).toBe(lacks ? 1 : 0);
      if (!lacks) continue;
      const on = privilege === "usage" ? "schema public" : "public.slides";
      expect(err).toContain(
        `The role ${role} lacks ${privilege.toUpperCase()} on ${on.replace("schema", "the schema")}`,
      );
      expect(err).toContain(`run "grant ${privilege} on ${on} to ${role}"`);
      expect(out).toBe("");
      expect(await app.sql("select model, status from holdfast.attached_table order by 1")).toEqual(before);
    }
  },
);

test.each(needs.filter(({ what }) => /create|update|delete/.test(what)))(
  "[DS38] [DS114] [DS112] while one privilege is taken away, $what or the write is refused, and other models go on",
  async ({ what, needed }) => {
    await reset(true);
    const action = what.split(" ")[1] as keyof typeof write;
    for (const privilege of PRIVILEGES) {
      const id = `${action}_${privilege}`;
      if (action !== "create") await owner.query("insert into slides values ($1, $2, 'One')", [id, DECK]);
      if (action !== "create") await until(async () => (await titleOf(id)) !== undefined);
      const { status, body } = await without(privilege, async () => {
        const other = { id: key(), data: {} };
        expect((await app.call("POST", "/v1/models/other", { key: key(), json: other })).status).toBe(200);
        const isReadable = privilege !== "usage" && privilege !== "select";
        const { status: listed, body: list } = await app.call("GET", "/v1/models/slide");
        expect([listed, list.code]).toEqual(isReadable ? [200, undefined] : [503, "source_changed"]);
        expect((await app.call("GET", "/v1/models/other")).status).toBe(200);
        const snapshot = await app.call("GET", "/v1/snapshot");
        // Once the server has noticed, the snapshot leaves the model out.
        if (isReadable || !snapshot.text.startsWith('{"object":"snapshot"')) expect(snapshot.status).toBe(listed);
        else expect(JSON.parse(snapshot.text.split("\n")[0] ?? "").models).not.toContain("slide");
        return await write[action](id);
      });
      if (needed.includes(privilege))
        expect(body, `${what} without ${privilege}`).toMatchObject({
          ...{ code: "source_refused", source: { sqlstate: "42501" } },
        });
      expect(status, `${what} without ${privilege}`).toBe(needed.includes(privilege) ? 409 : 200);
      if (action !== "delete" || status !== 200) expect((await write.delete(id)).status).toBeLessThan(500);
    }
    await owner.query("delete from slides");
    await until(async () => (await app.sql("select from holdfast.captured_change limit 1")).length === 0);
    expect(await well("verify", "slide")).toContain("equal");
  },
);

/** Tables with a trigger of the owner's own, which changes the row that fired it. */
const twice = (table: string) => `
  create function public.${table}_twice() returns trigger language plpgsql as $$ begin
    if new.title not like '%!' then update public.${table} set title = new.title || '!' where id = new.id; end if;
    return null; end $$;
  create trigger twice after insert or update on public.${table} for each row execute function public.${table}_twice();
  grant select, trigger on all tables in schema public to ${role}`;

test("[DS38] the owner's SQL goes on and is recorded while Holdfast's role may not read the table", async () => {
  await owner.query(`create table public.notes (id text primary key, title text); ${twice("notes")}`);
  await owner.query(`create table public.parts (id text, title text, primary key (id)) partition by list (id);
    create table public.part_a partition of parts for values in ('a', 'b');
    create table public.part_c partition of parts for values in ('c', 'd'); ${twice("parts")}`);
  await well("attach", "public.notes", "public.parts", "--yes");
  await owner.query(
    `revoke all on all tables in schema public from ${role}; revoke usage on schema public from ${role}`,
  );
  await owner.query("insert into notes values ('a', 'One'), ('b', 'Two'); insert into parts values ('a', 'One')");
  await owner.query(
    "update notes set id = 'c' where id = 'b'; update parts set id = 'c'; delete from notes where id = 'a'",
  );
  const lastOf = async (id: string, model: string) =>
    (
      await app.sql("select verb from holdfast.log where model = $1 and id = $2 order by sync_id desc limit 1", [
        model,
        id,
      ])
    )[0]?.verb;
  await until(async () => (await lastOf("c", "note")) !== undefined && (await lastOf("c", "part")) !== undefined);
  expect([await lastOf("a", "note"), await lastOf("b", "note")]).toEqual(["deleted", "deleted"]);
  await until(async () => (await lastOf("a", "part")) === "deleted");
  await owner.query(`grant select, insert, update, delete, trigger on all tables in schema public to ${role};
    grant usage on schema public to ${role}`);
  await well("verify", "note", "part", "--repair");
  await until(async () => (await titleOf("c", "note")) === "Two!" && (await titleOf("c", "part")) === "One!");
  expect(await well("verify")).toMatch(/note: 1 rows, equal\n.*part: 1 rows, equal/s);
});

test("[DS37] without the privilege, the owner drops the triggers by the statements that detach prints, and the table can be attached again", async () => {
  await owner.query(`create table public.logs (id text primary key) partition by list (id);
    create table public.logs_a partition of logs for values in ('a');
    grant select, trigger on logs, logs_a to ${role}; insert into logs values ('a')`);
  await well("attach", "public.logs", "--yes");
  await owner.query(`revoke trigger on logs, logs_a from ${role}`);
  const refused = await tables("detach", "log", "--yes");
  expect(refused.code).toBe(1);
  for (const table of ["public.logs", "public.logs_a"])
    expect(refused.err).toContain(`lacks TRIGGER on ${table}: run "grant trigger on ${table} to ${role}", or let`);
  expect(await app.sql("select status from holdfast.attached_table where model = 'log'")).toEqual([
    { status: "attached" },
  ]);
  const statements = [...refused.err.matchAll(/drop trigger \S+ on \S+;/g)].map(([one]) => one);
  expect(statements.length).toBe(8);
  await owner.query(statements.join("\n"));
  expect(await triggersOf("public.logs")).toEqual([]);
  await well("detach", "log", "--drop", "--yes");
  await owner.query(`grant trigger on logs, logs_a to ${role}`);
  await well("attach", "public.logs", "--yes");
  await owner.query("delete from logs");
  await until(async () => (await app.call("GET", "/v1/models/log/a")).status === 404);
  await well("detach", "log", "--drop", "--yes");
  expect([...(await triggersOf("public.logs")), ...(await triggersOf("public.logs_a"))]).toEqual([]);
  await owner.query("insert into logs values ('a')");
  expect(await app.sql("select from holdfast.captured_change where model = 'log'")).toEqual([]);
});

test("[DS36] [DS110] a table whose row level security hides rows of the role is refused until a policy shows them all", async () => {
  await owner.query(`create table public.shields (id text primary key, title text); insert into shields values ('a', 'One');
    alter table shields enable row level security; ${twice("shields")}; grant insert, update, delete on shields to ${role}`);
  const isHidden = async () => {
    const { code, err } = await tables("attach", "public.shields", "--yes");
    expect(code).toBe(1);
    return /run "(create policy .*)"\./.exec(err)?.[1] ?? "";
  };
  const policy = await isHidden();
  await owner.query(`create policy few on shields using (title <> 'One'); create policy others on shields to ${role} using (true);
    create policy less on shields as restrictive using (title <> 'One')`);
  expect(await isHidden()).toBe(policy);
  await owner.query("drop policy less on shields; drop policy others on shields");
  expect(await isHidden()).toBe(policy);
  await owner.query(policy);
  expect(await well("attach", "public.shields", "--yes")).toContain("attached: public.shields as shield");
  expect((await write.update("a", "Two", "shield")).status).toBe(200);
  expect(await titleOf("a", "shield")).toBe("Two!");
  await owner.query("insert into shields values ('b', 'Three')");
  await until(async () => (await titleOf("b", "shield")) === "Three!");
  await owner.query("drop policy holdfast on shields");
  expect((await tables("verify", "shield")).err).toContain(policy);
});

test("[DS36] [DS111] attach of several tables refuses all of them for one that lacks a privilege, and says what is attached if one fails later", async () => {
  await owner.query(`create table public.firsts (id text primary key); create table public.seconds (id text primary key);
    create table public.thirds (id text primary key); grant select, trigger on firsts, thirds to ${role}`);
  const refused = await tables("attach", "firsts", "public.seconds", "thirds", "--yes");
  expect(refused.code).toBe(1);
  expect(refused.err).toContain(`lacks SELECT and TRIGGER on public.seconds: run "grant select, trigger on`);
  expect(refused.err).toContain("Nothing was attached.");
  expect(await app.sql("select from holdfast.attached_table where name ~ 'firsts|thirds'")).toEqual([]);
  await owner.query(`grant select, trigger on seconds to ${role}`);
  expect((await write.create("o", "x", "other")).status).toBe(400);
  await app.call("POST", "/v1/models/other", { key: key(), json: { id: "o", data: {} } });
  const words = ["firsts", "seconds", "thirds", "--model", "seconds=other", "--yes"];
  const stopped = await tables("attach", ...words);
  expect(stopped.code).toBe(1);
  expect(stopped.err).toContain("Attached: public.firsts.\nNot attached: public.seconds, public.thirds.\n");
  expect(stopped.err).toContain('The "other" model has records already');
});

test("[DS36] a privilege that is taken away after the plan is named, and the same command goes on", async () => {
  await owner.query(`create table public.longs (id int primary key); grant select, trigger on longs to ${role};
    insert into longs select generate_series(1, 1200)`);
  const pool = createPool({ url: url.href });
  const tools = openTableTools(pool, { ...builtInHooks, schemaPushed: [] }, url.href);
  const [long] = await tools.inspect(["public.longs"]);
  if (!long || !("model" in long)) throw new Error("It cannot be attached.");
  await grant("revoke", "select", "longs");
  const sentence = `The role ${role} lacks SELECT on public.longs: run "grant select on public.longs to ${role}".`;
  const reading = () => pool.query("select from longs");
  await expect(inSentences(pool, "attach", long.table.relation, reading)).rejects.toThrow(sentence);
  await pool.end();
  const again = await tables("attach", "public.longs", "--yes");
  expect([again.code, again.err.includes(sentence)]).toEqual([1, true]);
  expect(await app.sql("select from holdfast.attached_table where model = 'long'")).toEqual([]);
  await grant("grant", "select", "longs");
  expect(await well("attach", "public.longs", "--yes")).toContain("attached: public.longs as long");
  expect(await well("verify", "long")).toBe("long: 1200 rows, equal\n");
});

test("[DS39] verifying and detaching tell after each step how far they are", async () => {
  const pool = createPool({ url: url.href });
  const tools = openTableTools(pool, { ...builtInHooks, schemaPushed: [] }, url.href);
  const tenant = { organization: app.organization, livemode: true };
  const verified: string[] = [];
  await tools.verify(tenant, "long", { progress: (step, done) => verified.push(`${done} ${step}`) });
  expect(verified).toEqual([...["500 rows", "1000 rows", "1200 rows", "0 records"]]);
  const kept: string[] = [];
  const progress = (step: string, done: number) => {
    if (step === "values") kept.push(`${done} values`);
    if (kept.length === 1) throw new Error("Killed.");
  };
  await expect(tools.detach(tenant, "long", { drop: false, progress })).rejects.toThrow("Killed.");
  expect((await app.call("GET", "/v1/models/long/1200")).status).toBe(200);
  await tools.detach(tenant, "long", { drop: false, progress });
  expect(kept).toEqual(["1000 values", "201 values"]);
  const [held] = await app.sql(
    "select count(*)::int as n, count(data)::int as whole from holdfast.record where model = 'long'",
  );
  expect(held).toEqual({ n: 1200, whole: 1200 });
  expect((await app.call("GET", "/v1/models/long/1200")).body.data).toEqual({ id: "1200" });
  await pool.end();
});

test("[DS36] [DS109] a role that may not use the schema of a table, or Holdfast's own, is told so in a sentence, by each command", async () => {
  await owner.query(`create schema closed; create table closed.things (id text primary key)`);
  const inspected = await tables("inspect", "closed.things");
  expect(inspected.code, inspected.err).toBe(0);
  expect(inspected.err).toContain(`run "grant usage on schema closed to ${role}"`);
  expect(inspected.err).toContain(`run "grant select, trigger on closed.things to ${role}"`);
  const env = { HOME: folder, DATABASE_URL: url.href };
  const init = await startCommand(["init", "--tables", "closed.things", "--yes"], { cwd: folder, env }).ended;
  expect(init.code).toBe(1);
  expect(init.err).toContain(
    `holdfast: The role ${role} lacks USAGE on the schema closed: run "grant usage on schema closed to ${role}".`,
  );
  expect(init.err).toMatch(/Nothing was attached\.\n$/);
  await owner.query(`create role ${role}_low login password 'low'; grant connect on database ${name} to ${role}_low`);
  const low = new URL(url);
  [low.username, low.password] = [`${role}_low`, "low"];
  const run = (...words: readonly string[]) => cli.start(["tables", ...words], { DATABASE_URL: low.href }).ended;
  for (const words of [["list"], ["verify"], ["attach", "closed.things", "--yes"], ["detach", "slide", "--yes"]]) {
    const { code, err } = await run(...words);
    expect(code).toBe(1);
    expect(err).toMatch(
      new RegExp(
        `^holdfast: DATABASE_URL: the role ${role}_low lacks a right on the schema holdfast, which ${role} owns .*\n$`,
      ),
    );
  }
  await owner.query(`drop owned by ${role}_low cascade; drop role ${role}_low; drop table closed.things`);
});

test("[DS36] a role that may not connect, or not create Holdfast's schema, is told so in a sentence, by each command", async () => {
  const theirs = new URL(url);
  const named = new URL(other.url).pathname.slice(1);
  theirs.pathname = named;
  const admin = new pg.Client({ connectionString: other.url });
  await admin.connect();
  await admin.query(`drop schema holdfast cascade; create table public.things (id text primary key);
    revoke all on database ${named} from public`);
  const run = (...words: readonly string[]) => cli.start(["tables", ...words], { DATABASE_URL: theirs.href }).ended;
  for (const words of [["inspect", "things"], ["list"]]) {
    const { code, err } = await run(...words);
    expect([code, err]).toEqual([
      1,
      `holdfast: DATABASE_URL: the role "${role}" lacks CONNECT on the database "${named}": run "grant connect on database "${named}" to "${role}"".\n`,
    ]);
  }
  await admin.query(`grant connect on database ${named} to ${role}`);
  expect((await run("inspect", "things")).code).toBe(0);
  const { code, err } = await run("attach", "things", "--yes");
  expect(code).toBe(1);
  expect(err).toBe(
    `holdfast: DATABASE_URL: the role ${role} cannot create the schema holdfast (permission denied for database ${named}): run "create schema holdfast authorization ${role}" as the owner of the database.\n`,
  );
  await admin.query(`create schema holdfast authorization ${role}`);
  expect((await run("list")).code).toBe(0);
  await admin.query(`drop schema holdfast cascade; revoke all on database ${named} from ${role}`);
  await admin.end();
});

test("[DS37] a transaction that has read the table, and writes it while the triggers are taken away, goes on", async () => {
  await owner.query(`create table public.reads (id text primary key, title text); insert into reads values ('a', 'One');
    grant select, trigger on reads to ${role}`);
  await well("attach", "public.reads", "--yes");
  await owner.query("begin; select from reads");
  const detaching = cli.begin("tables", "detach", "read", "--yes", "--org", app.organization);
  await until(() => detaching.texts.err.includes("read: waiting for transactions that use its table"));
  await owner.query("update reads set title = 'Two'; commit");
  expect(await detaching.ended).toMatchObject({ code: 0, out: "detached: read; its records stay\n" });
  expect(await triggersOf("public.reads")).toEqual([]);
  expect(await app.sql("select proname from pg_proc where proname like 'ended%'")).toEqual([]);
});

test.each([
  { moment: "before its triggers are dropped", holds: (table: string) => `select from ${table}`, left: 5 },
  { moment: "after that", holds: () => "lock table holdfast.attached_column in share mode", left: 0 },
])(
  "[DS39] a detaching that was killed $moment goes on when it is run again, and captures nothing until then",
  async ({ holds, left }) => {
    const model = left > 0 ? "kill" : "end";
    const table = `public.${model}s`;
    await owner.query(`create table ${table} (id text primary key, title text); insert into ${table} values ('a', 'One');
    grant select, insert, update, delete, trigger on ${table} to ${role}`);
    await well("attach", table, "--yes");
    await owner.query(`begin; ${holds(table)}`);
    const words = ["tables", "detach", model, "--yes", "--org", app.organization];
    const running = cli.start(words, { DATABASE_URL: url.href });
    const isDetaching = `select from holdfast.attached_table where model = '${model}' and status = 'detaching'`;
    await until(async () => (await app.sql(isDetaching)).length > 0 && (await triggersOf(table)).length === left);
    running.interrupt();
    expect((await running.ended).code).toBe(null);
    await owner.query("rollback");
    expect((await triggersOf(table)).length).toBe(left);
    await owner.query(`insert into ${table} values ('b', 'Mine'); update ${table} set id = 'c' where id = 'b'`);
    expect(await app.sql(`select from holdfast.captured_change where model = '${model}'`)).toEqual([]);
    const refused = await write.update("a", "Two", model);
    expect([refused.status, refused.body.message]).toEqual([503, `The table ${table} is being detached.`]);
    expect((await tables("attach", table, "--yes")).err).toContain(
      `${table} is being detached: run "holdfast tables detach ${model}" again`,
    );
    expect((await tables("verify", model)).err).toContain("is being detached");
    expect(await well("detach", model, "--yes")).toBe(`detached: ${model}; its records stay\n`);
    expect(await triggersOf(table)).toEqual([]);
    expect((await write.update("a", "Two", model)).status).toBe(200);
    expect(await titleOf("a", model)).toBe("Two");
  },
);
