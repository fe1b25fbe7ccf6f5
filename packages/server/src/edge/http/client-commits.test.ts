import { add, defineSchema, increment, type JsonObject, type ModelSchema } from "@holdfast/sdk";
import type { Model } from "@holdfast/sdk/protocol";
import { createTestServer } from "@holdfast/sdk/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { checkPayload } from "../../kernel/commits/rules/check-payload.ts";
import { isRefusal } from "../../kernel/refusal.ts";
import { checkGroups } from "../../kernel/schema/rules/sync-group.ts";
import type { Principal } from "../../kernel/tokens/rules/participant.ts";
import { parseJson } from "../payload/parse-json.ts";
import { bulkCommit } from "./commit-requests.ts";

/* What a client accepts, and what the server's checks say of the same text. */

const schema = defineSchema({
  models: {
    item: {
      fields: {
        config: { type: "json" },
        list: { type: "array" },
        text: { type: "string" },
        deckId: { type: "string" },
        n: { type: "number" },
      },
      groups: [{ kind: "deck", from: "deckId" }],
    },
  },
});
const principal = {} as Principal;

/** The first complaint of the server about what this client has queued. */
function complaint(writes: readonly { readonly body: string }[], model: Model): unknown {
  const text = Buffer.from(`{"commits":[${writes.map(({ body }) => body).join(",")}]}`);
  if (text.length > 4_194_304) return "The body is too large.";
  const parsed = parseJson(text);
  if (isRefusal(parsed)) return parsed;
  for (const element of (parsed as { value: { commits: unknown[] } }).value.commits) {
    const commit = bulkCommit({ principal, keyHeader: undefined }, element);
    if (isRefusal(commit)) return commit;
    for (const { action, id, data, changes } of commit.operations) {
      const refusal =
        checkPayload(model, action as "create", id, data as JsonObject | undefined, changes) ??
        checkGroups(model, { ...(data as JsonObject), id });
      if (refusal) return refusal;
    }
  }
  return undefined;
}

/** Makes writes without a network, and says which of them threw and what the server thinks of the others. */
async function offline(writes: readonly ((client: Client) => unknown)[]) {
  const { client, offline: cut } = createTestServer(schema as ModelSchema).client();
  await client.ready();
  cut();
  const thrown: unknown[] = [];
  for (const write of writes)
    try {
      write(client);
    } catch (error) {
      thrown.push(error);
    }
  const found = (await client.exportPending()).writes.map((write) => complaint([write], schema.models.item as Model));
  const shown = client.models.item?.list() ?? [];
  await client.close();
  return { thrown, complaints: found.filter((one) => one !== undefined), shown, queued: found.length };
}
type Client = ReturnType<ReturnType<typeof createTestServer<ModelSchema>>["client"]>["client"];

/** So many objects within each other. */
const nested = (levels: number): JsonObject => (levels <= 1 ? {} : { in: nested(levels - 1) });
const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 0]));
const create = (data: JsonObject) => (client: Client) => client.models.item?.create(data, { id: "a" });
const update = (data: JsonObject) => (client: Client) => client.models.item?.update("a", data as never);
const raw =
  (changes: object, data: JsonObject = {}) =>
  (client: Client) =>
    client.commit([{ action: "update", model: "item", id: "a", data, changes } as never]);
const claimed = (id: unknown) => (client: Client) =>
  client.models.item?.update("a", { text: "t" }, { claim: { id, model: "item", recordId: "a" } as never });
const commit = (reads: readonly unknown[]) => (client: Client) =>
  client.commit([{ action: "create", model: "item", id: "a", data: {} }], { reads: reads as never });

test.each<[string, (client: Client) => unknown]>([
  ["58 levels in a field, which are 64 in the request", create({ config: nested(58) })],
  ["1 000 keys", create({ config: keys(1_000) })],
  ["99 900 values", create({ list: new Array(99_900).fill(0) })],
  ["a group of 200 characters", create({ deckId: "x".repeat(200) })],
  [
    "premises on a record, on fields and on a group",
    commit([
      { model: "Item", id: "b" },
      { model: "item", id: "b", fields: ["text"], readAt: 0, onStale: "reject" },
      { group: "deck:d1" },
    ]),
  ],
])("[Q48] %s are taken by the client, and by the server", async (_, write) => {
  expect(await offline([write])).toMatchObject({ thrown: [], complaints: [], queued: 1 });
});

test.each<[string, (client: Client) => unknown, string, string]>([
  ["59 levels in a field", create({ config: nested(59) }), "invalid_value", "data.config"],
  ["63 levels in a field", create({ config: nested(63) }), "invalid_value", "data.config"],
  ["1 001 keys", create({ config: keys(1_001) }), "invalid_value", "data.config"],
  ["a key with NUL", create({ config: { "a\u0000": 1 } }), "invalid_value", "data.config"],
  ["a key with half of a surrogate pair", create({ config: { "\ud800": 1 } }), "invalid_value", "data.config"],
  ["a key __proto__", create({ config: JSON.parse('{"__proto__":1}') }), "invalid_value", "data.config.__proto__"],
  ["100 001 values", create({ list: new Array(100_001).fill(0) }), "too_many_values", "operations"],
  [
    "100 001 values in two operations",
    (client) =>
      client.commit([
        { action: "create", model: "item", id: "a", data: { list: new Array(60_000).fill(0) } },
        { action: "create", model: "item", id: "b", data: { list: new Array(60_000).fill(0) } },
      ]),
    "too_many_values",
    "operations",
  ],
  ["more than 4 MiB", create({ text: "ä".repeat(2_200_000) }), "request_too_large", "operations"],
  ["a group with a space", create({ deckId: "a b" }), "invalid_sync_group", "data.deckId"],
  ["a group of 201 characters", create({ deckId: "x".repeat(201) }), "invalid_sync_group", "data.deckId"],
  ["a change with NUL", update({ list: add("\u0000") as never }), "invalid_value", "changes.list"],
  ["an update of nothing", update({}), "empty_update", "data"],
  ["an update of another id", update({ id: "b", text: "t" }), "id_mismatch", "data.id"],
  ["an update of its id only", update({ id: "a" }), "empty_update", "data"],
  ["a claim with NUL", claimed("a\u0000"), "invalid_value", "claim"],
  ["a claim that is no text", claimed(5), "invalid_value", "claim"],
  ["a change of an unknown field", raw({ nope: { increment: 1 } }), "unknown_field", "changes.nope"],
  ["a change of the id", raw({ id: { increment: 1 } }), "empty_update", "data"],
  ["a change that its type does not have", raw({ text: { increment: 1 } }), "invalid_type", "changes.text"],
  ["an increment by text", raw({ n: { increment: "1" } }), "invalid_value", "changes.n"],
  ["two changes in one", raw({ n: { increment: 1, add: [1] } }), "invalid_value", "changes.n"],
  ["a change with an unknown key", raw({ n: { increment: 1, z: 1 } }), "invalid_value", "changes.n"],
  ["a change with 1 001 items", raw({ list: { add: new Array(1_001).fill(0) } }), "invalid_value", "changes.list"],
  ["a change with NUL in an item", raw({ list: { add: ["\u0000"] } }), "invalid_value", "changes.list"],
  ["a value and a change of one field", raw({ n: { increment: 1 } }, { n: 1 }), "invalid_value", "changes.n"],
  ["a premise on nothing", commit([{}]), "missing_field", "reads[0].model"],
  ["a premise on no object", commit([{ model: "item" }]), "missing_field", "reads[0].id"],
  ["a premise on an unknown model", commit([{ model: "nope", id: "a" }]), "unknown_model", "model"],
  ["a premise on an id that cannot be", commit([{ model: "item", id: "a/b" }]), "invalid_id", "reads[0].id"],
  [
    "a premise on a record and a group",
    commit([{ model: "item", id: "a", group: "deck:d" }]),
    "invalid_value",
    "reads[0].group",
  ],
  ["a premise on no group", commit([{ group: "deck" }]), "invalid_sync_group", "reads[0].group"],
  [
    "a premise on fields that are no names",
    commit([{ model: "item", id: "a", fields: [1] }]),
    "invalid_type",
    "reads[0].fields",
  ],
  [
    "a premise on a field with NUL",
    commit([{ model: "item", id: "a", fields: ["\u0000"] }]),
    "invalid_value",
    "reads[0]",
  ],
  ["a premise with a position before 0", commit([{ group: "deck:d", readAt: -1 }]), "invalid_value", "reads[0].readAt"],
  [
    "a premise with an unknown policy",
    commit([{ group: "deck:d", onStale: "maybe" }]),
    "invalid_value",
    "reads[0].onStale",
  ],
  ["a premise with an unknown key", commit([{ group: "deck:d", since: 1 }]), "unknown_field", "reads[0].since"],
])("[Q48] %s is refused at the call: nothing is shown or queued", async (_, write, code, param) => {
  const { thrown, shown, queued } = await offline([write]);
  expect(thrown).toMatchObject([{ name: "SyncError", code, param: expect.stringContaining(param) }]);
  expect(shown).toEqual([]);
  expect(queued).toBe(0);
});

const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 8 }),
  fc.constantFrom("\u0000", "\ud800", "\udc00\ud800", "😀", "__proto__", "constructor", "a b", "x".repeat(201)),
);
const value: fc.Arbitrary<unknown> = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    text,
    fc.double(),
    fc.integer(),
    fc.boolean(),
    fc.constantFrom(null, undefined, 2 ** 53, new Date(0), -0),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.array(fc.tuple(text, tie("value")), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
    fc.integer({ min: 50, max: 66 }).map(nested),
    fc.constantFrom(999, 1_000, 1_001).map(keys),
  ),
})).value;
const mostly = <T>(usual: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 8, arbitrary: usual }, { weight: 1, arbitrary: value });
const fields = {
  config: value,
  list: mostly(fc.array(value, { maxLength: 4 })),
  text: mostly(text),
  deckId: mostly(fc.oneof(fc.constant("d1"), text)),
  n: mostly(fc.double({ noNaN: true, noDefaultInfinity: true })),
};
const data = fc.record(fields, { requiredKeys: [] });
const changed = fc.record(
  { ...fields, list: text.map((item) => add(item)), n: fc.double().map(increment) },
  { requiredKeys: [] },
);
const id = fc.oneof(
  { weight: 8, arbitrary: fc.constant("a") },
  { weight: 1, arbitrary: value },
  { weight: 1, arbitrary: fc.constantFrom("constructor", "__proto__", "..", "a/b", "x".repeat(255), "x".repeat(256)) },
);
const readAt = mostly(fc.nat());
const read = mostly(
  fc.oneof(
    fc.record(
      {
        model: mostly(fc.constantFrom("item", "ITEM")),
        id,
        fields: mostly(fc.array(text, { maxLength: 3 })),
        readAt,
        onStale: mostly(fc.constantFrom("reject", "notify")),
      },
      { requiredKeys: ["model", "id"] },
    ),
    fc.record({ group: mostly(text.map((each) => `deck:${each}`)), readAt }, { requiredKeys: ["group"] }),
  ),
);
const write = fc.oneof(
  fc.record({ action: fc.constant("create"), id, data }),
  fc.record({ action: fc.constant("update"), id, data: fc.oneof(data, changed) }),
  fc.record({ action: fc.constantFrom("delete", "archive", "unarchive"), id }),
);

test("[Q48] what the client accepts, the server's checks accept", async () => {
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(write, { minLength: 1, maxLength: 3 }),
      fc.option(fc.array(read, { maxLength: 2 }), { nil: undefined }),
      async (operations, reads) => {
        const { complaints, queued, thrown } = await offline([
          (client) =>
            client.commit(operations.map((each) => ({ ...each, model: "item" })) as never, { reads: reads as never }),
        ]);
        expect(complaints).toEqual([]);
        for (const error of thrown) expect(error).toMatchObject({ name: "SyncError" });
        accepted += queued;
      },
    ),
    { numRuns: 400 },
  );
  expect(accepted).toBeGreaterThan(20);
});
