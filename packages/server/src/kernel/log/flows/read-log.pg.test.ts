import { randomBytes } from "node:crypto";
import type { LogEntry } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { builtInHooks } from "../../../modules/open-modules.ts";
import { startApp } from "../../../testing/app.ts";
import { commitOf } from "../../../testing/tenant.ts";
import type { Database } from "../../connection/pool.ts";
import { createLimiter } from "../../limits/limiter.ts";
import { pageCursors } from "../../lists/flows/page-cursor.ts";
import { createPlaceReader } from "../../lists/flows/read-places.ts";
import { createSchemaCache } from "../../schema/flows/schema-cache.ts";
import { readLog } from "./read-log.ts";
import { readSnapshot } from "./read-snapshot.ts";

const app = await startApp();
await app.call("POST", "/v1/models/slide", { json: { id: "s1", data: { deckId: "d", title: "One" } } });
const pool = app.pool();

/** A database in which something happens behind one of the questions that it is asked. */
function interrupted(after: number, happens: () => Promise<void>): Database {
  let asked = 0;
  const through =
    (asks: Pick<Database, "query">) =>
    async (...given: unknown[]) => {
      const answer: unknown = await (asks.query as (...all: unknown[]) => Promise<unknown>).apply(asks, given);
      if (asked++ === after) await happens();
      return answer;
    };
  const connect = async () => {
    const client = await pool.connect();
    return { query: through(client), release: (broken?: Error) => client.release(broken) };
  };
  return { query: through(pool), connect } as unknown as Database;
}

test.each([0, 1, 2])(
  "[G6] an entry of a model that is declared while the log is read is not passed over (%i)",
  async (after) => {
    const { models } = (await app.call("GET", "/v1/schema")).body as { models: Record<string, object> };
    const name = `late${after}`;
    const declare = async () => {
      const later = {
        ...models,
        ...Object.fromEntries(
          [...Array(after + 1).keys()].map((i) => [`late${i}`, { fields: { a: { type: "string" } } }]),
        ),
      };
      expect((await app.call("POST", "/v1/schema", { json: { models: later } })).status).toBe(201);
      expect((await app.call("POST", `/v1/models/${name}`, { json: { id: "n", data: { a: "x" } } })).status).toBe(200);
    };
    const [{ tenant = 0 } = {}] = await app.sql<{ tenant: number }>("select tenant from holdfast.log limit 1");
    const view = { models: undefined, groups: undefined };
    const seen: string[] = [];
    let db = interrupted(after, declare);
    const schemas = createSchemaCache();
    for (let from = 0; ; ) {
      const page = await readLog(db, schemas)(tenant, view, { after: from, limit: 100 });
      seen.push(...page.entries.map((text) => (JSON.parse(text) as LogEntry).model));
      if (page.examined === from) break;
      from = page.examined;
      db = pool;
    }
    expect(seen.filter((model) => model === name)).toEqual([name]);
  },
);

test.each([1, 2])(
  "[G7] a page of a snapshot knows the models of its records, also when one is declared behind question %i",
  async (after) => {
    const { models } = (await app.call("GET", "/v1/schema")).body as { models: Record<string, object> };
    const name = `Shown${after}`;
    const declare = async () => {
      const later = { ...models, [name]: { fields: { a: { type: "string" } } } };
      expect((await app.call("POST", "/v1/schema", { json: { models: later } })).status).toBe(201);
      expect((await app.call("POST", `/v1/models/${name}`, { json: { id: "n", data: { a: "x" } } })).status).toBe(200);
    };
    const [{ tenant = 0 } = {}] = await app.sql<{ tenant: number }>("select tenant from holdfast.log limit 1");
    const db = interrupted(after, declare);
    const places = { ...builtInHooks.places, read: createPlaceReader(db, {}, Date.now) };
    const cursors = pageCursors(randomBytes(32));
    const read = readSnapshot(db, places, createSchemaCache(), cursors, createLimiter({}), 2 ** 20);
    const view = { models: undefined, groups: undefined };
    const reader = { ...commitOf([]).principal, tenant };
    const page = await read({ reader, view, limit: 1_000, cursor: undefined });
    if (typeof page !== "string") throw new Error(page.code);
    const shown = new Set(
      page
        .split("\n")
        .slice(1, -2)
        .map((line) => (JSON.parse(line) as { model: string }).model),
    );
    expect(shown.has("slide")).toBe(true);
    expect(shown.has(name.toLowerCase())).toBe(false);
  },
);
