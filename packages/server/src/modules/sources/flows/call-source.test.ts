import { expect, test } from "vitest";
import { createIncomingAnswers } from "../../../kernel/limits/incoming-answers.ts";
import type { StoredSource } from "../db/sources.ts";
import type { CallResult, SendCall } from "../rules/source-call.ts";
import { callSource } from "./call-source.ts";

const sourceOf = (tenant: number) =>
  ({ id: `ds_${tenant}`, tenant, endpoint: "https://example.com", failures: 0, rejected: false }) as StoredSource;

function callsTo(answer: (room: Parameters<SendCall>[3]) => CallResult, checked = () => {}) {
  const problems: (string | null | undefined)[] = [];
  const call = callSource({
    note: async (_source, { problem }) => void problems.push(problem),
    send: async (_to, _id, _body, room) => answer(room),
    checkAnswer: () => void checked(),
    keys: { seal: () => Buffer.of(), open: () => ["key"] },
    incoming: createIncomingAnswers({ perTenant: 2 ** 24, total: 2 ** 25 }),
    recordBytes: 2 ** 20,
  });
  return { call, problems };
}

const load = (tenant: number, count: number) =>
  ({ type: "load", datasource: `ds_${tenant}`, model: "slide", ids: Array.from({ length: count }, String) }) as const;

const received = (bytes: Buffer, room: Parameters<SendCall>[3]): CallResult =>
  room.take(bytes.length) ? { bytes } : { problem: "Too many large answers." };

test("[DS93] an answer with millions of values is not parsed: less is asked for, and the owner is told why", async () => {
  const checked: string[] = [];
  const bytes = Buffer.from(`{"records":[${"[],".repeat(5_000_000)}[]]}`);
  const { call, problems } = callsTo(
    (room) => received(bytes, room),
    () => checked.push("checked"),
  );
  expect(await call(sourceOf(1), load(1, 100))).toBe("too large");
  expect(checked).toEqual([]);
  expect(problems).toEqual(["The answer has more than 100000 JSON values."]);
});

test("[DS93] [DS168] while large answers of many services are parsed, whatever else arrives has its turn after each of them", async () => {
  const turns: string[] = [];
  const bytes = Buffer.from(JSON.stringify({ records: [{ id: "a", data: { text: "x".repeat(2 ** 20) } }] }));
  const { call } = callsTo(
    (room) => received(bytes, room),
    () => turns.push("parsed"),
  );
  let isOver = false;
  const other = () => {
    turns.push("another request");
    if (!isOver) setImmediate(other);
  };
  setImmediate(other);
  const answers = await Promise.all(Array.from({ length: 20 }, (_, tenant) => call(sourceOf(tenant), load(tenant, 2))));
  isOver = true;
  expect(answers.every((answer) => typeof answer === "object")).toBe(true);
  expect(turns.filter((turn) => turn === "parsed")).toHaveLength(20);
  expect(turns.some((turn, i) => turn === "parsed" && turns[i + 1] === "parsed")).toBe(false);
});

test("[DS93] [DS168] parsing large answers takes at most a third of the time, also if one cannot be parsed", async () => {
  const times: string[] = [];
  let now = 0;
  const pause = async (ms: number) => void times.push(`rests ${ms} ms`);
  const incoming = createIncomingAnswers({ perTenant: 2 ** 20, total: 2 ** 20 }, { now: () => now, pause });
  const parse = async (name: string, ms: number) => {
    const answer = incoming.open(1);
    answer.take(2 ** 17);
    await answer.parse(() => {
      now += ms;
      times.push(name);
      if (name === "broken") throw new Error(name);
    });
  };
  const all = [parse("a", 40), parse("broken", 30), parse("b", 0), parse("c", 10)];
  expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual([
    ...["fulfilled", "rejected", "fulfilled", "fulfilled"],
  ]);
  expect(times).toEqual(["a", "rests 80 ms", "broken", "rests 60 ms", "b", "c", "rests 20 ms"]);
});

test("[DS93] an answer may have as many bytes as was asked for", async () => {
  const most: number[] = [];
  const { call } = callsTo((room) => {
    most.push(room.most);
    return { problem: "away" };
  });
  await call(sourceOf(1), load(1, 1));
  await call(sourceOf(1), load(1, 100));
  await call(sourceOf(1), { type: "events", datasource: "ds_1", cursor: null, limit: 100 });
  expect(most[0]).toBeLessThan(2 ** 21);
  expect(most[1]).toBe(2 ** 24);
  expect(most[2]).toBeLessThan(2 ** 23);
});

test("[DS93] [DS168] one tenant's answers leave room in memory for those of others", async () => {
  const incoming = createIncomingAnswers({ perTenant: 100_000, total: 250_000 });
  const [first, second, other, last] = [incoming.open(1), incoming.open(1), incoming.open(2), incoming.open(3)];
  expect(first.take(60_000)).toBe(true);
  expect(second.take(60_000)).toBe(false);
  expect(other.take(100_000)).toBe(true);
  expect(last.take(100_000)).toBe(false);
  other.close();
  expect(last.take(100_000)).toBe(true);
  first.close();
  expect(second.take(60_000)).toBe(true);
});
