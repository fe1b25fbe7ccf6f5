import { expect, test } from "vitest";
import { unreadableData } from "../../../kernel/commits/rules/stored-entry.ts";
import type { DeclaredModel } from "../../../kernel/schema/rules/declared-model.ts";
import { storedEntryOf } from "../../../testing/stored-entry.ts";
import { readSubscription, subscribes } from "./subscription.ts";
import { eventOf, testEvent } from "./webhook-event.ts";

const entry = storedEntryOf({
  ...{ syncId: 12, model: "ingestionjob", id: "j1", verb: "updated", groups: ["org:o"], actor: "a" },
  ...{ data: '{"title":"é","n":1.50}', changedFields: '["title"]', createdAt: "2026-01-01T00:00:00.000Z" },
});
const declared: DeclaredModel = { name: "IngestionJob", model: { fields: { title: { type: "string" } } }, changes: [] };

test("[W5] an event has the model as declared, its type in lower case, and the row as it is stored", () => {
  expect(eventOf(entry, declared)).toEqual({
    syncId: 12,
    model: "ingestionjob",
    text: '{"type":"ingestionjob.updated","model":"IngestionJob","objectId":"j1","data":{"title":"é","n":1.50},"syncId":12,"id":"12","createdAt":"2026-01-01T00:00:00.000Z","actor":"a","participantKind":"user"}',
  });
  const gone = eventOf({ ...entry, verb: "deleted", data: null }, declared);
  expect(JSON.parse(gone?.text ?? "")).toMatchObject({ type: "ingestionjob.deleted", data: null });
});

test("[W6] an event uses the names of the current schema; a dropped model has no events", () => {
  const renamed = {
    ...declared,
    model: { fields: { name: { type: "string" as const } } },
    changes: [{ upTo: 20, renames: { title: "name" } }],
  };
  expect(JSON.parse(eventOf(entry, renamed)?.text ?? "")).toMatchObject({ data: { name: "é" } });
  expect(eventOf(entry, undefined)).toBeUndefined();
});

test("[DS83] the event of a record that cannot be read has no data, and says why", () => {
  const data = unreadableData("It is too large.");
  const large = storedEntryOf({ syncId: 7, model: "slide", id: "s1", verb: "updated", data });
  const renamed = { name: "Slide", model: { fields: {} }, changes: [{ upTo: 20, renames: { title: "name" } }] };
  expect(JSON.parse(eventOf(large, renamed)?.text ?? "")).toMatchObject({ data: null, unreadable: "It is too large." });
});

test("[W18] a test event has the position that it is given, not a new one", () => {
  const { text } = testEvent("we_1", 41, 0);
  expect(JSON.parse(text)).toMatchObject({ type: "webhook_endpoint.test", objectId: "we_1", syncId: 41, id: "41" });
});

test("[W1] a subscription names declared models, in any case, or all", () => {
  const models = new Map([["ingestionjob", declared]]);
  expect(readSubscription(["ingestionJOB", "IngestionJob"], models)).toEqual(["IngestionJob"]);
  expect(readSubscription(["IngestionJob", "*"], models)).toEqual(["*"]);
  expect(readSubscription(["*", "unknown"], models)).toMatchObject({
    code: "unknown_model",
    status: 400,
    param: "enabledEvents[1]",
  });
  expect(subscribes(["IngestionJob"])("ingestionjob")).toBe(true);
  expect(subscribes(["IngestionJob"])("slide")).toBe(false);
  expect(subscribes(["*"])("slide")).toBe(true);
});
