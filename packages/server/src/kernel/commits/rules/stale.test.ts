import type { JsonObject, Verb } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { isOwn, judgePremise, judgeStale, type PastEntry } from "./stale.ts";

const row = { id: "s1", title: "theirs", order: 1, notes: null } as const;
let position = 10;
const entry = (verb: Verb, changedFields: string[] | null = null, writtenBy = "user:bob"): PastEntry => ({
  syncId: ++position,
  verb,
  changedFields,
  writtenBy,
  clientId: null,
});
const updated = (...fields: string[]) => entry("updated", fields);
const judge = (
  action: Parameters<typeof judgeStale>[0]["action"],
  data: JsonObject | undefined,
  newer: PastEntry[],
  { conflict = "field", now = row }: { conflict?: "field" | "record"; now?: JsonObject | "gone" } = {},
) => judgeStale({ action, data, conflict, row: now === "gone" ? undefined : now, newer });

test.each(["created", "deleted", "archived", "unarchived"] as const)(
  "[S2] a newer %s makes an update stale in every field that differs",
  (verb) => {
    expect(judge("update", { title: "mine", order: 1, notes: "x" }, [entry(verb)])).toMatchObject({
      conflictingFields: ["title", "notes"],
    });
  },
);

test("[S3] a field that has the written value already does not conflict", () => {
  expect(judge("update", { title: "theirs" }, [updated("title")])).toBeUndefined();
  expect(judge("update", { title: "theirs", order: 2 }, [updated("title", "order")])).toMatchObject({
    conflictingFields: ["order"],
    currentValues: { order: 1 },
  });
  expect(judge("update", { title: "theirs" }, [entry("archived")])).toBeUndefined();
});

test("[S3] equal values: the order of keys within them does not count, the order of items does", () => {
  const now = { ...row, extra: { a: 1, b: [1, 2] } };
  expect(judge("update", { extra: { b: [1, 2], a: 1 } }, [updated("extra")], { now })).toBeUndefined();
  expect(judge("update", { extra: { b: [2, 1], a: 1 } }, [updated("extra")], { now })).toBeDefined();
});

test.each(["delete", "archive", "unarchive"] as const)(
  "[S5] %s is stale on any newer entry, with the changed fields and the whole row",
  (action) => {
    expect(judge(action, undefined, [updated("order"), updated("notes")])).toMatchObject({
      conflictingFields: ["order", "notes"],
      currentValues: row,
    });
    expect(judge(action, undefined, [updated("order"), entry("unarchived")])).toMatchObject({
      conflictingFields: ["id", "title", "order", "notes"],
    });
    expect(judge(action, undefined, [])).toBeUndefined();
  },
);

test("[S12] the notice names the newest entry that conflicts, not the newest of all", () => {
  const first = entry("updated", ["title"], "agent:a");
  const culprit = entry("updated", ["title", "order"], "agent:b");
  const later = entry("updated", ["notes"], "agent:c");
  expect(judge("update", { title: "mine" }, [first, culprit, later])).toMatchObject({
    writtenBy: "agent:b",
    observedSyncId: culprit.syncId,
  });
});

test("[S12] a field that the row does not have is shown as null", () => {
  expect(judge("update", { colour: "red" }, [updated("colour")])).toMatchObject({ currentValues: { colour: null } });
  expect(judge("update", { toString: "x" } as never, [updated("toString")])).toMatchObject({
    currentValues: { toString: null },
  });
});

test.each([
  ["no client id", { writtenBy: "user:a", clientId: null }, { writtenBy: "user:a", clientId: null }, false],
  ["the same of both", { writtenBy: "user:a", clientId: "c" }, { writtenBy: "user:a", clientId: "c" }, true],
  ["another client", { writtenBy: "user:a", clientId: "c" }, { writtenBy: "user:a", clientId: "d" }, false],
  ["another participant", { writtenBy: "user:a", clientId: "c" }, { writtenBy: "agent:a", clientId: "c" }, false],
])("[S7] an entry with %s: its own is %#", (_, writer, past, own) => {
  expect(isOwn(writer, past)).toBe(own);
});

test("[S10] a premise with fields asks for those, without them for any newer entry", () => {
  expect(judgePremise(["title"], row, [updated("order")])).toBeUndefined();
  expect(judgePremise(["title", "notes"], row, [updated("title"), updated("order")])).toMatchObject({
    conflictingFields: ["title"],
    currentValues: { title: "theirs" },
  });
  expect(judgePremise(["title"], row, [entry("archived")])).toMatchObject({ conflictingFields: ["title"] });
  expect(judgePremise(undefined, row, [updated("order")])).toMatchObject({
    conflictingFields: ["order"],
    currentValues: { order: 1 },
  });
  expect(judgePremise(undefined, undefined, [entry("deleted")])).toMatchObject({ currentValues: {} });
  expect(judgePremise(undefined, row, [])).toBeUndefined();
});
