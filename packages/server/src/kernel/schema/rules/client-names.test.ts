import { type Model, schemaFingerprint } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { clientNames, olderModels, type PastSchema, readSaid, type SaidSchema } from "./client-names.ts";
import type { SchemaChange } from "./declared-model.ts";

const model = (...fields: string[]): Model => ({
  fields: Object.fromEntries(fields.map((name) => [name, { type: "string" as const }])),
});

/** Versions 1, 2, … of a tenant, each with the renames of its push; version n + 1 is stored at n. */
function history(...versions: { models: Record<string, Model>; renames?: Record<string, Record<string, string>> }[]) {
  const changes: Record<string, SchemaChange[]> = {};
  const stored = versions.map(({ models, renames = {} }, at): PastSchema => {
    for (const [key, own] of Object.entries(renames))
      changes[key] = [...(changes[key] ?? []), { upTo: at, renames: own }];
    const asOf = { ...changes };
    return { version: at + 1, models, changes: (key) => asOf[key] ?? [], supersededAt: at + 1 };
  });
  const now = stored.at(-1) as PastSchema;
  const current = new Map(
    Object.entries(now.models).map(([name, one]) => [
      name.toLowerCase(),
      { name, model: one as Model, changes: now.changes(name.toLowerCase()) },
    ]),
  );
  return olderModels(stored.slice(0, -1).reverse(), current);
}

const saying = (models: Record<string, Model>): SaidSchema => readSaid(schemaFingerprint(models)) as SaidSchema;

/** By model: old name → current name. */
const namesFor = (known: ReturnType<typeof history>, said: SaidSchema) => {
  const names = clientNames(known, said);
  return names && Object.fromEntries([...names.models].map(([key, { toNew }]) => [key, Object.fromEntries(toNew)]));
};

const [first, second] = [model("title", "order"), model("heading", "order")];
const renamed = () =>
  history({ models: { slide: first } }, { models: { slide: second }, renames: { slide: { title: "heading" } } });

test("[M31] a client is known by the fingerprints of its models, or by the version", () => {
  const expected = { slide: { title: "heading", heading: null } };
  expect(namesFor(renamed(), saying({ slide: first }))).toEqual(expected);
  expect(namesFor(renamed(), { kind: "version", version: 1 })).toEqual(expected);
});

test("[M31] an app that declares only some of the models, in any case, is known by these", () => {
  const deck = model("name");
  const known = history(
    { models: { deck, slide: first, Note: model("text") } },
    { models: { deck, slide: second, Note: model("text") }, renames: { slide: { title: "heading" } } },
  );
  expect(namesFor(known, saying({ SLIDE: first }))).toEqual({ slide: { title: "heading", heading: null } });
});

test.each<[string, SaidSchema]>([
  ["the current schema", saying({ slide: second })],
  ["the current version", { kind: "version", version: 2 }],
  ["a version that is not there", { kind: "version", version: 9 }],
  ["fields that were never pushed", saying({ slide: model("other") })],
  ["another type", saying({ slide: { fields: { title: { type: "number" }, order: { type: "string" } } } })],
  ["another model", saying({ deck: first })],
  ["no models", { kind: "models", fingerprints: [] }],
])("[M31] [M54] nothing is translated for a client with %s", (_, said) => {
  expect(namesFor(renamed(), said)).toBeUndefined();
});

test("[M31] of several versions with the same names, the newest counts", () => {
  const known = history(
    { models: { slide: first } },
    { models: { slide: second }, renames: { slide: { title: "heading" } } },
    { models: { slide: model("order") }, renames: { slide: {} } },
    { models: { slide: first } },
    { models: { slide: model("name", "order") }, renames: { slide: { title: "name" } } },
  );
  expect(namesFor(known, saying({ slide: first }))).toEqual({ slide: { title: "name", name: null } });
});

test("[M31] clients of different versions with the same names share what is made for them", () => {
  const deck = model("name");
  const known = history(
    { models: { slide: first } },
    { models: { slide: first, deck } },
    { models: { slide: second, deck }, renames: { slide: { title: "heading" } } },
  );
  const keys = [saying({ slide: first }), saying({ slide: first, deck }), readSaid("1"), readSaid("2")].map(
    (said) => clientNames(known, said as SaidSchema)?.key,
  );
  expect(new Set(keys).size).toBe(1);
});

test("[M34] a model is older since the push that changed its names, not since pushes of other models", () => {
  const deck = model("name");
  const known = history(
    { models: { slide: first } },
    { models: { slide: first, deck } },
    { models: { slide: first, deck: model("name", "owner") } },
    { models: { slide: second, deck }, renames: { slide: { title: "heading" } } },
    { models: { slide: model("heading") }, renames: { slide: {} } },
  );
  expect(clientNames(known, saying({ slide: first }))?.olderSince).toBe(3);
  expect(clientNames(known, { kind: "version", version: 1 })?.olderSince).toBe(3);
});

test.each([
  ["7", { kind: "version", version: 7 }],
  ["999999", { kind: "version", version: 999_999 }],
  ["1234567", { kind: "models", fingerprints: ["1234567"] }],
  ["0abc123,zzzzzzz", { kind: "models", fingerprints: ["0abc123", "zzzzzzz"] }],
  ["", { kind: "models", fingerprints: [] }],
  ["0", undefined],
  ["-1", undefined],
  ["abc", undefined],
  ["0abc123,", undefined],
  ["0abc123, zzzzzzz", undefined],
  ["0ABC123", undefined],
  [Array(201).fill("0abc123").join(), undefined],
])("[M31] a client says %j", (text, said) => {
  expect(readSaid(text)).toEqual(said);
});
