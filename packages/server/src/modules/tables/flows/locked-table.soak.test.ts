import { expect, test } from "vitest";
import { startWithTables } from "../../../testing/attached-tables.ts";
import { smallServers } from "../../../testing/small-server.ts";

const { app, db, attach } = await startWithTables();
const smallServer = smallServers(app);

const QUESTIONS = 300;
const READERS = 50;

test("[DS92] while 50 readers ask for a locked table, other tenants' lists, snapshots and log pages take at most three times as long (p99)", async () => {
  await db.query(`create table public.busy (id text primary key, title text);
    insert into public.busy select 'b' || n, 'Title ' || n from generate_series(1, 1000) n`);
  const { model } = await attach("public.busy", { title: {} });
  const { call } = await smallServer(256);
  const token = app.keys.other;
  for (let n = 0; n < 100; n++)
    await call("POST", "/v1/models/slide", { token, json: { id: `s${n}`, data: { deckId: "d", title: `${n}` } } });
  const own = [`/v1/models/${model}`, "/v1/snapshot", `/v1/models/${model}/b1`, "/v1/log"];
  const slowest = async () => {
    const took: number[] = [];
    for (let n = 0; n < QUESTIONS; n++) {
      const path = ["/v1/models/slide?limit=100", "/v1/snapshot", "/v1/log"][n % 3] as string;
      const since = performance.now();
      expect((await call("GET", path, { token })).status).toBe(200);
      took.push(performance.now() - since);
    }
    return took.sort((a, b) => a - b)[Math.floor(0.99 * QUESTIONS)] as number;
  };
  const readers = async (until: () => boolean, statuses: Map<string, Set<number>>) => {
    const read = async (n: number) => {
      const path = own[n % own.length] as string;
      while (!until()) {
        const { status } = await call("GET", path);
        statuses.set(path, (statuses.get(path) ?? new Set()).add(status));
        // As a client does that is told to try again.
        await new Promise((resolve) => setTimeout(resolve, status === 503 ? 1_000 : 100));
      }
    };
    await Promise.all(Array.from({ length: READERS }, (_, n) => read(n)));
  };
  const beside = async () => {
    let isOver = false;
    const statuses = new Map<string, Set<number>>();
    const all = readers(() => isOver, statuses);
    const p99 = await slowest();
    isOver = true;
    await all;
    return { p99, statuses };
  };
  await slowest();
  const free = await beside();
  expect([...free.statuses.values()].every((seen) => seen.size === 1 && seen.has(200))).toBe(true);
  const lock = await app.hold("lock table public.busy in access exclusive mode");
  const locked = await beside();
  await lock.release();
  console.log("p99", free.p99, locked.p99);
  expect(locked.statuses.get(own[0] as string)).toEqual(new Set([503]));
  expect(locked.statuses.get("/v1/log")).toEqual(new Set([200]));
  expect(locked.p99).toBeLessThan(3 * Math.max(free.p99, 10));
});
