import { expect, test } from "vitest";
import { giveTime } from "../../../../../scripts/testing/give-time.ts";
import { until } from "../../../../../scripts/testing/until.ts";
import type { TailPage, TailQuestion } from "../log/flows/follow-log.ts";
import { NO_SCHEMA } from "../schema/flows/schema-cache.ts";
import { createTailReader } from "./tail-reader.ts";

const schema = { ...NO_SCHEMA, version: 1, rowsVersion: 1 };

function setUp(pageOf: (question: TailQuestion) => TailPage | undefined) {
  const asked: (readonly TailQuestion[])[] = [];
  const positions = new Map<number, number>();
  const reader = createTailReader({
    read: async (questions) => {
      asked.push(questions);
      return questions.flatMap((question) => pageOf(question) ?? []);
    },
    positionOf: (tenant) => positions.get(tenant),
    publish: ({ tenant, to }) => void positions.set(tenant, to),
    failed: (error) => {
      throw error;
    },
  });
  return { asked, positions, reader };
}

const page = ({ tenant, after, to }: TailQuestion, hasMore = false): TailPage => ({
  ...{ tenant, from: after, to, hasMore, entries: [], schema },
});

test("[T10] all logs that moved are read with one statement; a log without listeners, or already read, needs none", async () => {
  const { asked, positions, reader } = setUp((question) => page(question));
  for (let tenant = 1; tenant <= 100; tenant++) positions.set(tenant, 5);
  for (let tenant = 1; tenant <= 100; tenant++) reader.readUpTo(tenant, tenant <= 40 ? 6 : 5);
  reader.readUpTo(101, 9);
  await until(async () => expect(await positions.get(40)).toBe(6));
  reader.readUpTo(7, 6);
  await giveTime(50);
  expect(asked.length).toBe(1);
  expect(asked[0]?.length).toBe(40);
});

test("[T10] a log with more than a page is read on, and one that got no room in the statement is read again", async () => {
  let answered = 0;
  const { asked, positions, reader } = setUp((question) => {
    answered += 1;
    if (question.tenant === 2 && answered === 2) return undefined;
    const to = Math.min(question.to, question.after + 3);
    return page({ ...question, to }, to < question.to);
  });
  positions.set(1, 0);
  positions.set(2, 0);
  reader.readUpTo(1, 7);
  reader.readUpTo(2, 2);
  await until(async () => expect(await [positions.get(1), positions.get(2)]).toEqual([7, 2]));
  expect(asked.map((questions) => questions.map(({ tenant }) => tenant))).toEqual([[1, 2], [1, 2], [1]]);
});

test("[T10] a deleted log is not read again and again", async () => {
  const { asked, positions, reader } = setUp(() => undefined);
  positions.set(1, 0);
  reader.readUpTo(1, 7);
  await giveTime(100);
  expect(asked.length).toBe(1);
});

test("[T10] the next hint repeats a failed read", async () => {
  const failures: unknown[] = [];
  const received: number[] = [];
  let fails = true;
  const reader = createTailReader({
    read: async ([question]) => {
      if (fails) throw new Error("away");
      return question ? [page(question)] : [];
    },
    positionOf: () => 0,
    publish: ({ to }) => void received.push(to),
    failed: (error) => void failures.push(error),
  });
  reader.readUpTo(1, 3);
  await until(() => expect(failures.length).toBe(1));
  fails = false;
  await new Promise(setImmediate);
  reader.readUpTo(1, 3);
  await until(() => expect(received).toEqual([3]));
});
