import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { LogEntry } from "@holdfast/sdk/protocol";
import { afterAll, expect, test } from "vitest";
import { temporaryFolder } from "../../../../scripts/testing/temporary-folder.ts";
import { until } from "../../../../scripts/testing/until.ts";
import { newMasterKey, startServer } from "../server.ts";
import { ADMIN, caller, creates, hundred, startApp } from "../testing/app.ts";
import { freshDatabase } from "../testing/database.ts";
import { commandLine } from "../testing/programs/command-line.ts";

const app = await startApp();
const { call, keys, organization } = app;
const folder = temporaryFolder("cli");

const { start, run } = commandLine(app, folder);
const file = async (name: string, content: unknown) => {
  const path = join(folder, name);
  await writeFile(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
};

test("[O9] every command has help, and what is no command is refused", async () => {
  const { code, out } = await run("--help");
  expect(code).toBe(0);
  for (const name of ["schema", "keys", "orgs", "log", "webhooks", "erase", "dump", "restore"])
    expect(out).toContain(name);
  expect((await run("schema", "push", "--help")).out).toContain("--force");
  const wrong = await start(["destroy"]).ended;
  expect(wrong.code).toBe(1);
  expect(wrong.err).toEqual(expect.stringMatching(/unknown command/));
});

test("[O9] a schema is pushed, shown, refused with the list, renamed and forced", async () => {
  const { body } = await call("POST", "/v1/organizations", { token: ADMIN, json: { name: "cli" } });
  const minted = await run("keys", "create", "--org", String(body.id), "--label", "from the terminal");
  const key = minted.out.trim();
  expect(key).toMatch(/^sk_live_/);
  const push = async (fields: object, ...words: string[]) =>
    run("schema", "push", await file("s.json", { models: { note: { fields } } }), "--key", key, ...words);
  const text = { type: "string" };
  expect((await push({ a: text, b: text })).out).toMatch(/^pushed: version 1,/);
  expect((await push({ a: text, b: text })).out).toMatch(/^unchanged: version 1,/);
  const refused = await push({ c: text, b: text });
  expect(refused.code).toBe(1);
  expect(refused.err).toEqual(expect.stringMatching(/\n {2}note\.a: The field is removed\.\n/));
  expect((await push({ c: text, b: text }, "--rename", "note.a=c")).out).toMatch(/version 2/);
  const forced = await push({ c: text }, "--force");
  expect(forced.out).toEqual(expect.stringMatching(/version 3/));
  expect(forced.err).toEqual(expect.stringMatching(/warning: note\.b/));
  expect(JSON.parse((await run("schema", "show", "--key", key)).out)).toEqual({
    models: { note: { fields: { c: text } } },
  });
  expect((await push({ c: text }, "--rename", "note")).err).toMatch(/<model>\.<from>=<to>/);
  expect((await run("restore", "/nowhere.gz")).err).toMatch(/cannot be read/);
  expect((await run("schema", "push", "/nowhere.json")).err).toMatch(/cannot be read/);
});

test("[ER8] a record is erased from the terminal, and one that is not there is refused", async () => {
  await call("POST", "/v1/models/slide", { json: { id: "gone", data: { deckId: "d1", title: "to be erased" } } });
  const erased = await run("erase", "Slide", "gone", "--key", keys.live);
  expect(erased.code).toBe(0);
  expect(erased.out).toEqual(expect.stringMatching(/^erased: Slide gone, position \d+\n$/));
  const again = await run("erase", "Slide", "gone", "--key", keys.live);
  expect(again.code).toBe(1);
  expect(again.err).toEqual(expect.stringContaining("The Slide gone does not exist"));
  const unknown = await run("erase", "nothing", "x", "--key", keys.live);
  expect(unknown.code).toBe(1);
  expect(unknown.err).toEqual(expect.stringContaining("unknown_model"));
  const path = join(folder, "erased.gz");
  expect((await run("dump", "--org", organization, path)).code).toBe(0);
  expect(gunzipSync(await readFile(path)).toString()).not.toContain("to be erased");
});

test("[O9] organizations and keys are made, listed and ended", async () => {
  const id = (await run("orgs", "create", "Terminal & Co")).out.trim();
  expect((await run("orgs", "list")).out).toMatch(new RegExp(`${id}  Terminal & Co`));
  const several = await run("keys", "create");
  expect(several.code).toBe(1);
  expect(several.err).toEqual(expect.stringMatching(/--org/));
  const key = JSON.parse((await run("--json", "keys", "create", "--org", id, "--test")).out) as {
    id: string;
    token: string;
  };
  expect(key.token).toMatch(/^sk_test_/);
  const listed = (await run("keys", "list", "--org", id)).out;
  expect(listed).toMatch(new RegExp(`${key.id}  ${id}  test +${key.token.slice(-4)}`));
  expect(listed).not.toContain(key.token);
  expect((await run("keys", "revoke", key.id)).out).toBe(`revoked ${key.id}\n`);
  expect((await call("GET", "/v1/log", { token: key.token })).status).toBe(401);
  expect((await run("keys", "revoke", "key_none")).err).toMatch(/secret_key_not_found/);
});

test("[O9] a command that cannot be carried out fails with a sentence", async () => {
  expect((await run("--url", "http://127.0.0.1:9", "orgs", "list")).err).toMatch(/No server answers/);
  expect((await start(["orgs", "list"], { HOLDFAST_ADMIN_TOKEN: "" }).ended).err).not.toMatch(/ at .*\.ts/);
  expect((await run("schema", "show", "--test")).err).toMatch(/keys\.json/);
});

test("[O9] the log is followed as it grows", async () => {
  const tail = start(["log", "tail", "--after", "0", "--model", "slide"]);
  await call("POST", "/v1/models/slide", { json: { id: "tailed", data: { title: "x" } } });
  await until(() => expect(tail.texts.out).toMatch(/slide\.created tailed {2}by system:key_/));
  await call("PATCH", "/v1/models/slide/tailed", { json: { data: { title: "y" } } });
  await until(() => expect(tail.texts.out).toMatch(/slide\.updated tailed {2}title {2}by/));
  tail.interrupt();
  await tail.ended;
  const whole = await run("--json", "log", "tail", "--after", "0", "--no-follow");
  const entries = whole.out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as LogEntry);
  expect(entries.map(({ syncId }) => syncId)).toEqual(entries.map((_, i) => i + 1));
});

/** Another server, on an empty database. */
async function elsewhere() {
  const { url: databaseUrl } = await freshDatabase();
  const server = await startServer({ databaseUrl, adminToken: ADMIN, masterKeys: [newMasterKey()], port: 0 });
  const closing: (() => void)[] = [];
  afterAll(async () => {
    for (const close of closing) close();
    await server.close();
  });
  // Each process of its own takes about a second of a processor: one of each kind is enough.
  const { run } = commandLine({ ...app, databaseUrl }, folder);
  return { databaseUrl, ask: caller(server.url, keys.live, closing), run };
}

const NAUGHTY = { title: '\u2028 "quoted" \\ 😀', order: 0.1 + 0.2, notes: "a\nb\tc" };

test("[O10] an organization is dumped and restored: rows, log, receipts and keys, under a new log id", async () => {
  for (let n = 0; n < 12; n++)
    await call("POST", "/v1/commits", {
      json: creates("slide", hundred(`d${n}`), { ...NAUGHTY, deckId: `deck-${n}` }),
    });
  const kept = await call("PATCH", "/v1/models/slide/d0-0", { json: { data: { title: "later" } }, key: "kept" });
  await call("POST", "/v1/models/slide/d0-1/archive");
  await call("DELETE", "/v1/models/slide/d0-2");
  await call("POST", "/v1/models/slide", { token: keys.test, json: { id: "in-test", data: {} } });
  const claimed = await call("POST", "/v1/models/slide/d0-3/claim");
  const path = join(folder, "whole.ndjson.gz");
  const dumped = await start(["dump", path, "--org", organization], { DATABASE_URL: app.databaseUrl }).ended;
  expect(dumped.code).toBe(0);
  expect(dumped.err).toBe("");
  expect(dumped.out).toEqual(expect.stringMatching(/^dumped 2 schemas, \d+ entries/));
  const text = gunzipSync(await readFile(path)).toString();
  for (const secret of [keys.live, keys.test]) expect(text).not.toContain(secret.slice(8));

  const other = await elsewhere();
  const restored = await start(["restore", path, "--keep-keys"], { DATABASE_URL: other.databaseUrl }).ended;
  expect(restored.code).toBe(0);
  expect(restored.err).toBe("");
  const parts = ["/v1/snapshot", "/v1/log?limit=1000", "/v1/schema"];
  for (const [token, asked] of [
    [keys.live, [...parts, "/v1/log?limit=1000&after=1000", "/v1/models/slide/d0-2/history"]],
    [keys.test, parts],
  ] as const)
    for (const what of asked) {
      const [here, there] = [await call("GET", what, { token }), await other.ask("GET", what, { token })];
      const stripped = ({ text }: { text: string }) =>
        text.replace(/"(logId|serverTime)":"[^"]*"/g, "").replace(/"next_cursor":"[^"]*"/, "");
      expect(stripped(there) === stripped(here), `${what} differs`).toBe(true);
    }
  const [here, there] = [await call("GET", "/v1/identity"), await other.ask("GET", "/v1/identity")];
  expect(there.body.organization).toBe(here.body.organization);
  expect(there.body.logId).not.toBe(here.body.logId);
  const again = await other.ask("PATCH", "/v1/models/slide/d0-0", { json: { data: { title: "later" } }, key: "kept" });
  expect(again.text).toEqual(kept.text);
  expect(again.headers["idempotent-replayed"]).toBe("true");
  const next = await other.ask("POST", "/v1/models/slide", { json: { id: "after", data: {} } });
  expect(next.body.lastSyncId).toBe(Number((await call("GET", "/v1/log?limit=1")).body.stamp) + 1);

  // Claims are not restored, but later fences are greater than any that another system has seen.
  const anew = await other.ask("POST", "/v1/models/slide/d0-3/claim");
  expect(anew.status).toBe(201);
  expect(Number(anew.body.fence) > Number(claimed.body.fence) + 1e6).toBe(true);

  const twice = await other.run("restore", path);
  expect(twice.code).toBe(1);
  expect(twice.err).toEqual(expect.stringMatching(/--new-id/));
  const beside = await other.run("--json", "restore", path, "--new-id");
  expect(JSON.parse(beside.out).organization).not.toBe(organization);
});

test("[O10] a dump that cannot be written fails with a sentence", async () => {
  for (const name of ["dump.ndjson", "dump.ndjson.gz"]) {
    const there = { DATABASE_URL: app.databaseUrl };
    const { code, err } = await start(["dump", join(folder, "missing", name), "--org", organization], there).ended;
    expect(code).toBe(1);
    expect(err).toEqual(expect.stringMatching(/^holdfast: .* cannot be written: ENOENT[^\n]*\n$/));
  }
  expect(await run("dump", folder, "--org", organization)).toMatchObject({
    code: 1,
    err: `${folder} is a directory: name a file in it.\n`,
  });
});

test("[O10] two dumps into one file at once do not mix, and leave nothing beside it", async () => {
  const path = join(folder, "same.ndjson.gz");
  const dumps = Array.from({ length: 3 }, () => run("dump", path, "--org", organization));
  expect((await Promise.all(dumps)).map(({ code, err }) => [code, err])).toEqual(dumps.map(() => [0, ""]));
  expect((await readdir(folder)).filter((name) => name.startsWith("same"))).toEqual(["same.ndjson.gz"]);
  const other = await elsewhere();
  expect((await other.run("restore", path)).err).toBe("");
});

test("[K15] restore revokes the keys of the dump and says so, unless the operator keeps them", async () => {
  const path = join(folder, "keys.ndjson");
  await run("dump", path, "--org", organization);
  const [usual, kept] = [await elsewhere(), await elsewhere()];
  expect((await usual.run("restore", path)).out).toMatch(/All keys of the dump are revoked.* --keep-keys/);
  expect((await usual.ask("GET", "/v1/identity")).body.code).toBe("token_revoked");
  expect((await kept.run("restore", path, "--keep-keys")).out).toMatch(/are valid again/);
  expect((await kept.ask("GET", "/v1/identity")).status).toBe(200);
});

test("[O10] a file that cannot be restored fails with a sentence", async () => {
  for (const [path, why] of [
    [join(folder, "none.ndjson"), "ENOENT"],
    [join(folder, "none.ndjson.gz"), "ENOENT"],
    [folder, "EISDIR"],
    [await file("plain.gz", "no gzip"), "incorrect header check"],
  ] as const) {
    const { code, err } = await run("restore", path);
    expect(code).toBe(1);
    expect(err).toEqual(expect.stringMatching(`^/.* cannot be read: .*${why}[^\n]*\n$`));
  }
});

test("[O10] a dump that is cut off, damaged or none at all restores nothing", async () => {
  const path = join(folder, "small.ndjson");
  const { body } = await call("POST", "/v1/organizations", { token: ADMIN, json: { name: "small" } });
  await run("dump", path, "--org", String(body.id));
  const lines = (await readFile(path, "utf8")).trim().split("\n");
  const count = async () => ((await call("GET", "/v1/organizations", { token: ADMIN })).body.data as unknown[]).length;
  const before = await count();
  const tried = async (text: string) => (await run("restore", await file("tried.ndjson", text), "--new-id")).err;
  expect(await tried(lines.slice(0, -1).join("\n"))).toMatch(/incomplete/);
  expect(await tried(lines.toSpliced(2, 0, "{{{").join("\n"))).toMatch(/damaged/);
  for (const row of ['{"tenant":1', '{"tenant":1}', '{"tenant":1,"name":"g","sync_id":1,"other_sync_id":1,"tenant":1}'])
    expect(await tried(lines.toSpliced(lines.indexOf('{"what":"groups"}') + 1, 0, row).join("\n"))).toMatch(/damaged/);
  expect(await tried('{"object":"holdfast_dump","version":1}')).toMatch(/not a dump/);
  expect(await tried("hello")).toMatch(/damaged/);
  expect(await tried("{}")).toMatch(/not a dump/);
  expect(await tried("")).toMatch(/incomplete/);
  expect((await run("restore", path)).err).toMatch(/--new-id/);
  await call("POST", "/v1/secret_keys", { token: ADMIN, json: { organization: body.id, livemode: true } });
  await run("dump", path, "--org", String(body.id));
  const sameKey = (await readFile(path, "utf8")).replace(String(body.id), "org_another");
  expect((await run("restore", await file("key.ndjson", sameKey))).err).toMatch(
    /key_\w+ .* already exists here.*--new-id/,
  );
  expect(await count()).toBe(before);
  expect((await run("dump", path, "--org", "org_none")).err).toMatch(/organization org_none does not exist/);
});
