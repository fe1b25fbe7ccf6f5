import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject } from "../../packages/sdk/src/protocol/json.ts";
import type { FollowedConditions } from "../../packages/sdk/src/protocol/log/followed-records.ts";
import { meetsConditions } from "../../packages/sdk/src/protocol/log/meets-conditions.ts";
import type { Model } from "../../packages/sdk/src/protocol/schema/model-schema.ts";
import { followedRecords } from "../../packages/server/src/kernel/log/rules/followed-records.ts";
import { partsJudge } from "../../packages/server/src/kernel/log/rules/judge-parts.ts";
import { fieldsByType, comparedTypes as types, valuesByType } from "./any-value.ts";

const model: Model = {
  fields: { ...fieldsByType, array: { type: "array", nullable: true }, json: { type: "json", nullable: true } },
};

/** Values of the field's type and of others: a push may change a type under what is followed. */
const anyScalar = fc.oneof(...types.map((type) => valuesByType[type]), fc.constant(null)) as fc.Arbitrary<
  string | number | boolean | null
>;
const items = fc.constantFrom("a", "b", "é");
const json = fc.constantFrom("a", "[1]", "{}", 1, true, null);
const record = fc
  .tuple(
    fc.dictionary(fc.constantFrom(...types), anyScalar),
    fc.option(fc.oneof(json, fc.constantFrom([1], {})), { nil: undefined }),
    fc.option(fc.array(fc.oneof(items, fc.constant(1)), { maxLength: 3 }), { nil: undefined }),
  )
  .map(
    ([data, any, array]): JsonObject =>
      ({ ...data, ...(any !== undefined && { json: any }), ...(array && { array }) }) as JsonObject,
  );
const bound = anyScalar.filter((value) => typeof value === "string" || typeof value === "number");
const condition = fc.oneof(
  anyScalar,
  fc.record({ in: fc.array(anyScalar, { maxLength: 3 }) }),
  fc.record({ contains: items }),
  fc.record({ gt: bound, lte: bound }, { requiredKeys: [] }).filter((one) => Object.keys(one).length > 0),
  fc.record({ gte: bound, lt: bound }, { requiredKeys: [] }).filter((one) => Object.keys(one).length > 0),
);
const part = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.dictionary(fc.constantFrom(...types, "array", "json", "id", "gone"), condition, { maxKeys: 3 }),
  },
  { weight: 1, arbitrary: fc.record({ json: fc.oneof(json, fc.record({ in: fc.array(json, { maxLength: 3 }) })) }) },
);

test.each([
  [3, true],
  ["3", false],
  [{ in: [null, "[3]"] }, false],
  [{ in: [null, 3] }, true],
  [{ gt: 1 }, false],
  [{ contains: "3" }, false],
])("[T14] [T25] a condition %j of a field of the type json is compared as JSON with 3", (condition, isMet) => {
  const parts = [{ json: condition }] as FollowedConditions[];
  expect(parts.some((one) => meetsConditions(one, model, "a", { json: 3 }))).toBe(isMet);
  expect(partsJudge(parts, model).isMet("a", { json: 3 })).toBe(isMet);
});

test("[T14] many parts are judged together as each by itself", () => {
  let met = 0;
  fc.assert(
    fc.property(record, fc.constantFrom("a", "0", "é"), fc.array(part, { maxLength: 4 }), (data, id, some) => {
      const parts = some as FollowedConditions[];
      const isMet = parts.some((one) => meetsConditions(one, model, id, data));
      if (isMet) met += 1;
      expect(partsJudge(parts, model).isMet(id, data)).toBe(isMet);
    }),
    { numRuns: 5_000, seed: 8 },
  );
  expect(met).toBeGreaterThan(500);
});

test("[T14] [N39] [N88] a reader follows what the server would list for its conditions, whatever values they have", () => {
  const models = new Map([["thing", { name: "thing", model, changes: [] }]]);
  fc.assert(
    fc.property(record, fc.constantFrom("a", "0", "é"), part, (data, id, one) => {
      const conditions = one as FollowedConditions;
      // Conditions that no record can meet are left out of the statement.
      const isListed = followedRecords({ thing: [conditions] }, models).get("thing")?.length === 1;
      if (!isListed) expect(meetsConditions(conditions, model, id, data)).toBe(false);
    }),
    { numRuns: 5_000, seed: 7 },
  );
});
