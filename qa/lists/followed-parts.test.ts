import fc from "fast-check";
import { expect, test } from "vitest";
import { meetsPart } from "../../packages/sdk/src/core/log/meets-part.ts";
import type { JsonObject } from "../../packages/sdk/src/protocol/json.ts";
import type { FollowedConditions } from "../../packages/sdk/src/protocol/log/followed-records.ts";
import type { Field, Model } from "../../packages/sdk/src/protocol/schema/model-schema.ts";
import { meetsFilters } from "../../packages/server/src/rules/lists/meets-filters.ts";
import { followedRecords } from "../../packages/server/src/rules/log/followed-records.ts";
import { partsJudge } from "../../packages/server/src/rules/log/judge-parts.ts";
import type { DeclaredModel } from "../../packages/server/src/rules/schema/declared-model.ts";
import { type ComparedType, enumValues, valuesByType } from "./any-value.ts";

const types = Object.keys(valuesByType) as ComparedType[];
const model: Model = {
  fields: {
    ...Object.fromEntries(
      types.map((type): [string, Field] => [
        type,
        { type, nullable: true, ...(type === "enum" && { values: enumValues }) },
      ]),
    ),
    array: { type: "array", nullable: true },
  },
};

/** Values of the field's type and of others: a push may change a type under what is followed. */
const anyScalar = fc.oneof(...types.map((type) => valuesByType[type]), fc.constant(null)) as fc.Arbitrary<
  string | number | boolean | null
>;
const items = fc.constantFrom("a", "b", "é");
const record = fc
  .tuple(
    fc.dictionary(fc.constantFrom(...types), anyScalar),
    fc.option(fc.array(fc.oneof(items, fc.constant(1)), { maxLength: 3 }), { nil: undefined }),
  )
  .map(([data, array]): JsonObject => ({ ...data, ...(array && { array }) }) as JsonObject);
const bound = anyScalar.filter((value) => typeof value === "string" || typeof value === "number");
const condition = fc.oneof(
  anyScalar,
  fc.record({ in: fc.array(anyScalar, { maxLength: 3 }) }),
  fc.record({ contains: items }),
  fc.record({ gt: bound, lte: bound }, { requiredKeys: [] }).filter((one) => Object.keys(one).length > 0),
  fc.record({ gte: bound, lt: bound }, { requiredKeys: [] }).filter((one) => Object.keys(one).length > 0),
);
const part = fc.dictionary(fc.constantFrom(...types, "array", "id", "gone"), condition, { maxKeys: 3 });

test("[T14] many parts are judged together as each by itself", () => {
  const models = new Map([["thing", { model } as unknown as DeclaredModel]]);
  fc.assert(
    fc.property(record, fc.constantFrom("a", "0", "é"), fc.array(part, { maxLength: 4 }), (data, id, parts) => {
      const followed = followedRecords({ thing: parts as FollowedConditions[] }, models).get("thing") ?? [];
      expect(partsJudge(followed).isMet(id, data)).toBe(followed.some((filters) => meetsFilters(filters, id, data)));
    }),
    { numRuns: 5_000, seed: 8 },
  );
});

test("[N39] which records stay when a part goes, a client and the server judge alike", () => {
  const models = new Map([["thing", { model } as unknown as DeclaredModel]]);
  let met = 0;
  fc.assert(
    fc.property(record, fc.constantFrom("a", "0", "é"), part, (data, id, conditions) => {
      const one = conditions as FollowedConditions;
      const followed = followedRecords({ thing: [one] }, models).get("thing") ?? [];
      const byServer = followed.some((filters) => meetsFilters(filters, id, data));
      if (byServer) met += 1;
      expect(meetsPart(one, model, id, data)).toBe(byServer);
    }),
    { numRuns: 5_000, seed: 7 },
  );
  expect(met).toBeGreaterThan(200);
});
