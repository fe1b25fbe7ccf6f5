import { defineSchema } from "@holdfast/sdk/node";
import { ModelServer } from "@holdfast/sdk/testing";
import { expect, test } from "vitest";
import { ADMIN, caller, startApp } from "../../packages/server/src/testing/app.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { RandomBulks } from "./random-bulk.ts";

// The simulation's model server must answer like the server, so the same bulks are sent to both.

const BULKS = 120;
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];

const schema = defineSchema({
  models: {
    slide: {
      fields: {
        title: { type: "string" },
        notes: { type: "string" },
        order: { type: "number", default: 0 },
        votes: { type: "integer", default: 0 },
        labels: { type: "array" },
      },
    },
    card: {
      fields: {
        code: { type: "string", nullable: true, unique: true },
        area: { type: "string", nullable: true },
        slot: { type: "string", nullable: true, unique: ["area", "slot"] },
        slide: { type: "string", nullable: true, references: "slide", onDelete: "cascade" },
        parent: { type: "string", nullable: true, references: "card", onDelete: "cascade" },
        friends: { type: "array", items: "string", references: "card", onDelete: "setNull" },
        keeper: { type: "string", nullable: true, references: "slide", onDelete: "restrict" },
      },
    },
  },
});

const app = await startApp();
const operator = caller(app.url, ADMIN);

test.each(SEEDS)("[R13] the model server answers like the server, seed %i", async (seed) => {
  const { id: organization } = (await operator("POST", "/v1/organizations", { json: { name: `seed ${seed}` } })).body;
  const key = await operator("POST", "/v1/secret_keys", { json: { organization, livemode: true } });
  const token = String(key.body.token);
  await operator("POST", "/v1/schema", { token, json: schema });
  const model = new ModelServer(schema);
  const bulks = new RandomBulks(new SeededRandom(seed));
  const kinds = new Set<string>();
  for (let i = 0; i < BULKS; i++) {
    const commits = bulks.next(model.head);
    const text = JSON.stringify({ commits });
    const answer = await app.call("POST", "/v1/commits/bulk", { token, bytes: text });
    const real = (answer.body.data as Item[]).map(said);
    const modelled = (model.bulk(text, "key").data as Item[]).map(said);
    for (const item of real) kinds.add(String(item.code ?? item.status));
    expect({ bulk: i, commits, said: modelled }).toEqual({ bulk: i, commits, said: real });
  }
  const log = await app.call("GET", "/v1/log?after=0&limit=1000", { token });
  expect(model.log.map(entryOf)).toEqual((log.body.data as Item[]).map(entryOf));
  // A run in which nothing is ever refused, held or missing would show little.
  expect([...kinds]).toEqual(expect.arrayContaining(KINDS));
  for (const kind of kinds) seen.add(kind);
});

test("[R13] unique fields and references were in the way", () => {
  expect([...seen]).toEqual(expect.arrayContaining(["not_unique", "invalid_reference", "still_referenced"]));
});

const KINDS = ["confirmed", "rejected", "already_exists", "dependency_blocked", "not_unique", "invalid_reference"];
const seen = new Set<string>();

type Item = Readonly<Record<string, unknown>>;

/** The parts of a commit's response that clients use. */
function said(item: Item): Item {
  const { httpStatus, status, code, lastSyncId, missingIds, notifications = [], blockedBy } = item;
  return {
    httpStatus,
    status: httpStatus === 200 ? status : undefined,
    code,
    lastSyncId,
    blockedBy,
    missingIds: [...((missingIds as string[] | undefined) ?? [])].sort(),
    notifications: (notifications as Item[]).map(
      ({ model, id, readAt, observedSyncId, conflictingFields, currentValues }) => ({
        model,
        id,
        readAt,
        observedSyncId,
        conflictingFields: [...(conflictingFields as string[])].sort(),
        currentValues,
      }),
    ),
  };
}

function entryOf(entry: unknown): Item {
  const { syncId, model, id, verb, data, changedFields, clientTxId, clientId } = entry as Item;
  return {
    syncId,
    model,
    id,
    verb,
    data,
    changedFields: changedFields && [...(changedFields as string[])].sort(),
    clientTxId,
    clientId,
  };
}
