import type { Model } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import type { FollowLog } from "../flows/follow-log.ts";
import type { LiveSchema } from "../flows/schema-cache.ts";
import type { StoredEntry } from "../rules/entry-text.ts";
import type { Hub } from "./hub.ts";
import { listenToLog } from "./log-reader.ts";

const schemaOf = (...names: string[]): LiveSchema => ({
  version: names.length,
  hash: "",
  models: new Map(
    names.map((name) => [name, { name, model: { fields: { a: { type: "string" } } } satisfies Model, changes: [] }]),
  ),
  hiddenModels: [],
  rowsVersion: 1,
});

const entryOf = (syncId: number, model: string): StoredEntry => ({
  syncId,
  model,
  id: `r${syncId}`,
  verb: "created",
  data: '{"a":"x"}',
  changedFields: null,
  groups: [],
  groupsBefore: null,
  clientTxId: `t${syncId}`,
  clientId: null,
  transactionId: null,
  actor: "ann",
  participantKind: "user",
  claim: null,
  createdAt: "2026-01-02T03:04:05.678Z",
});

test("[T2] who catches up hears of a model that was declared on the way", async () => {
  const many = 700;
  let declared = schemaOf("note");
  const hub = { listen: async () => ({ position: () => many, end: () => {} }) } as unknown as Hub;
  const log = {
    entries: async (_world: number, after: number, to: number) =>
      Array.from({ length: to - after }, (_, i) => entryOf(after + i + 1, after + i + 1 === many ? "task" : "note")),
    standing: async () => ({ schema: declared }),
  } as unknown as FollowLog;
  const heard: number[] = [];
  const reader = await listenToLog(hub, log, 1, {
    tell: () => {},
    write: async (frame) => {
      heard.push(...(JSON.parse(frame) as { entries: { syncId: number }[] }).entries.map(({ syncId }) => syncId));
      declared = schemaOf("note", "task");
    },
    schemaPushed: () => {},
  });
  expect(await reader.begin({ models: undefined, groups: undefined }, 0)).toBe("live");
  expect(heard).toEqual(Array.from({ length: many }, (_, i) => i + 1));
});
