import { FIELD_TYPES, type Field, isDateTime, type JsonObject, type Model, paths } from "@holdfast/sdk/protocol";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { checkPayload } from "../../../kernel/commits/rules/check-payload.ts";
import { referenceSchema } from "../../../testing/reference-schema.ts";
import { createPublicUrl } from "../../addresses/public-url.ts";
import { openApi } from "./document.ts";
import { createSchemas, type Plain } from "./json-schema.ts";
import { dataSchemas } from "./model-schemas.ts";

const publicUrl = createPublicUrl("https://sync.example");
const generic = openApi(publicUrl);
const withModels = openApi(publicUrl, referenceSchema.models);

/** What a linter of descriptions has against one, warnings too. */
async function complaints(document: Plain): Promise<string[]> {
  const found = await lintFromString({
    source: JSON.stringify(document),
    absoluteRef: "openapi.json",
    config: await createConfig({ extends: ["recommended"] }),
  });
  return found.map(
    ({ severity, ruleId, message, location }) => `${severity} ${ruleId} ${location[0]?.pointer}: ${message}`,
  );
}

const operationsOf = (document: Plain) =>
  Object.entries(document.paths as Record<string, Record<string, Plain>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

test("[E4] a linter has nothing against it, neither for anybody nor with models", async () => {
  expect(await complaints(generic)).toEqual([]);
  expect(await complaints(withModels)).toEqual([]);
});

test("[E4] the linter would say so", async () => {
  const { title: _, ...info } = generic.info as Plain;
  expect(await complaints({ ...generic, info })).toEqual([expect.stringContaining("title")]);
  const text = JSON.stringify(generic).replaceAll("schemas/LogEntry", "schemas/Nothing");
  expect((await complaints(JSON.parse(text) as Plain)).length).toBeGreaterThan(0);
});

test("[E4] every route is in it once, under its own name", () => {
  const described = operationsOf(generic).map(({ path, method, operation }) => [operation.operationId, method, path]);
  const routes = Object.entries(paths).map(([name, [method, path]]) => [
    name,
    method.toLowerCase(),
    path.replace(/:([A-Za-z]+)/g, "{$1}"),
  ]);
  expect(described.sort()).toEqual(routes.sort());
  const ids = operationsOf(withModels).map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  const ofModels = Object.values(paths).filter(([, path]) => path.includes(":model")).length;
  // A query of any model would be ambiguous beside the paths of one.
  expect(ids).toHaveLength(routes.length - 1 + ofModels * Object.keys(referenceSchema.models).length);
});

test("[E4] every operation lists its errors, in the one envelope", () => {
  const responses = (withModels.components as { responses: Record<string, Plain> }).responses;
  for (const { operation } of operationsOf(withModels)) {
    const statuses = Object.keys(operation.responses as Plain);
    expect(statuses, String(operation.operationId)).toEqual(
      expect.arrayContaining(["400", "401", "429", "500", "503"]),
    );
    for (const [status, response] of Object.entries(operation.responses as Record<string, Plain>)) {
      if (Number(status) < 400) continue;
      const whole = responses[String(response.$ref).split("/").at(-1) ?? ""] as Plain;
      expect(whole.content).toMatchObject({
        "application/json": { schema: { $ref: "#/components/schemas/ErrorEnvelope" } },
      });
      expect(whole.description).toMatch(/^- \[`[a-z_]+`\]\(https:\/\/sync\.example\/docs\/errors#[a-z_]+\): .+/);
      expect(whole.headers).toHaveProperty("x-request-id");
    }
  }
});

test("[E4] the document contains the docstrings", () => {
  const { schemas } = generic.components as { schemas: Record<string, { properties: Record<string, Plain> }> };
  expect(schemas.CommitReceipt?.properties.lastSyncId?.description).toBe(
    "The last entry written, else the head of the log.",
  );
  expect(schemas.LogEntryList?.properties.has_more?.description).toMatch(/beyond this page/);
  expect(schemas.ErrorEnvelope?.properties.request_id?.description).toMatch(/x-request-id/);
});

const value: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(null, true, "", "text", "a", "2026-01-02T03:04:05Z", "2026-13-02T03:04:05Z", 0, 1, 1.5, -7),
  fc.constantFrom<unknown>([], [1, "a"], {}, { a: null }, 2 ** 60),
);
const field: fc.Arbitrary<Field> = fc
  .record({
    type: fc.constantFrom(...FIELD_TYPES),
    required: fc.boolean(),
    nullable: fc.boolean(),
    filled: fc.boolean(),
  })
  .map(({ type, required, nullable, filled }) => ({
    type,
    required,
    nullable,
    ...(type === "enum" && { values: ["a", "b"] }),
    ...(filled && { default: DEFAULTS[type] }),
  }));
const DEFAULTS: Readonly<Record<Field["type"], unknown>> = {
  string: "x",
  number: 1.5,
  integer: 1,
  boolean: false,
  datetime: "2026-01-02T03:04:05Z",
  enum: "a",
  array: [],
  json: {},
};
const NAMES = ["a", "b", "toString", "id"];

test("[E5] a model's schemas take what the server takes, and refuse what it refuses", () => {
  const ajv = new Ajv2020({ strict: false, ownProperties: true, formats: { "date-time": isDateTime } });
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom("a", "b", "toString"), field, { minKeys: 1 }),
      fc.array(fc.dictionary(fc.constantFrom(...NAMES), value), { minLength: 1, maxLength: 8 }),
      (fields, payloads) => {
        const model: Model = { fields };
        const schemas = createSchemas((_, schema) => schema);
        dataSchemas("one", model, schemas);
        const { one_Create: created = {}, one_Update: updated = {} } = schemas.all();
        const takes = { create: ajv.compile(created), update: ajv.compile(updated) };
        for (const sent of payloads) {
          const data = { ...sent, ...("id" in sent && { id: "r1" }) } as JsonObject;
          expect(takes.create(data)).toBe(checkPayload(model, "create", "r1", data) === undefined);
          if (Object.keys(data).length > 0)
            expect(takes.update(data)).toBe(checkPayload(model, "update", "r1", data) === undefined);
        }
      },
    ),
    { seed: 20_260_131, numRuns: 300 },
  );
});

test("[E5] a model may be called like a part of ours", () => {
  const names = ["Claim", "LogEntry", "log", "commits", "create", "readLog", "List", "Error400", "constructor"];
  const document = openApi(
    publicUrl,
    Object.fromEntries(names.map((name) => [name, { fields: { a: { type: "string" } } }])),
  );
  const ids = operationsOf(document).map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  const tags = (document.tags as { name: string }[]).map(({ name }) => name);
  expect(new Set(tags).size).toBe(tags.length);
  const before = (generic.components as { schemas: Plain }).schemas;
  expect((document.components as { schemas: Plain }).schemas).toMatchObject(before);
});

test("[E5] the document describes the favorite, and a field that is named like a timestamp", () => {
  const fields = { createdAt: { type: "json" }, updatedAt: { type: "string" } } as const;
  const { components, paths: described } = openApi(publicUrl, { Favorite: { fields }, other: { fields } }) as {
    components: { schemas: Record<string, Plain> };
    paths: Record<string, { post: Plain; patch: Plain; get: { parameters: { name: string; schema: Plain }[] } }>;
  };
  const required = (operation: Plain = {}) => {
    const { content } = operation.requestBody as { content: Record<string, { schema: Plain }> };
    return content["application/json"]?.schema.required;
  };
  expect(required(described["/v1/models/favorite"]?.post)).toEqual(["data"]);
  expect(required(described["/v1/models/favorite/{id}"]?.patch)).toEqual([]);
  expect(required(described["/v1/models/other"]?.post)).toEqual(["data", "id"]);
  expect(required(described["/v1/models/other/{id}"]?.patch)).toEqual([]);
  expect(components.schemas.Favorite_Update).not.toHaveProperty("minProperties");
  expect(components.schemas.other_Update).toHaveProperty("minProperties", 1);
  const sorted = described["/v1/models/other"]?.get.parameters.find(({ name }) => name === "order_by");
  const anyOf = sorted?.schema.anyOf ?? [];
  const [one, several] = anyOf as [Plain, { items: { pattern: string } }];
  expect(one.enum).toEqual(["id", "updatedAt", "createdBy", "updatedBy"]);
  for (const key of ["id", "updatedAt:desc"]) expect(key).toMatch(new RegExp(several.items.pattern));
  expect("colour").not.toMatch(new RegExp(several.items.pattern));
});
