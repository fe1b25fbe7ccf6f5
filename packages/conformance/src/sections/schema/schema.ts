import { absent, aList, atLeast, exactly, sameSet, someText } from "../../assertions/pattern.ts";
import { type FieldShape, type ModelShape, type Models, NOTE } from "../../environment/models.ts";
import { readModels } from "../../environment/schemas.ts";
import { schemaTenant } from "../../kit/schema-tenant.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import { dataOf, entriesOf } from "../../protocol/answers.ts";

const PUSHED = { object: "schema", version: atLeast(1), hash: someText, unchanged: false, warnings: aList };
const fields = (own: Readonly<Record<string, FieldShape>>): ModelShape => ({ fields: own });
const text: FieldShape = { type: "string" };

const BASE = fields({ a: text, n: { type: "integer" }, e: { type: "enum", values: ["x", "y"] } });
const ADDITIVE: readonly (readonly [what: string, after: ModelShape])[] = [
  ["A new field", fields({ ...BASE.fields, b: text })],
  ["A new field with a default", fields({ ...BASE.fields, b: { type: "number", default: 1 } })],
  [
    "A new required field with a default",
    fields({ ...BASE.fields, b: { type: "string", required: true, default: "d" } }),
  ],
  ["A field that may now be null", fields({ ...BASE.fields, a: { type: "string", nullable: true } })],
  ["A new value of an enum", fields({ ...BASE.fields, e: { type: "enum", values: ["x", "y", "z"] } })],
  ["An index", fields({ ...BASE.fields, a: { type: "string", index: true } })],
];
const BREAKING: readonly (readonly [what: string, after: ModelShape | undefined, environment: string])[] = [
  ["A dropped field", fields({ n: { type: "integer" }, e: { type: "enum", values: ["x", "y"] } }), "a"],
  ["A dropped model", undefined, ""],
  ["A narrowed type", fields({ ...BASE.fields, a: { type: "number" } }), "a"],
  ["A removed value of an enum", fields({ ...BASE.fields, e: { type: "enum", values: ["x"] } }), "e"],
  [
    "A new required field without a default, while records exist,",
    fields({ ...BASE.fields, b: { type: "string", required: true } }),
    "b",
  ],
];

const field = (shape: object): object => ({ fields: { a: shape } });
const MALFORMED: readonly (readonly [what: string, model: object])[] = [
  ["a field of an unknown type", field({ type: "blob" })],
  ["a field without a type", field({})],
  ["a field with an unknown key", field({ type: "string", colour: 1 })],
  ["an enum without values", field({ type: "enum" })],
  ["a default of another type", field({ type: "number", default: "1" })],
  ["a field's name that begins with a digit", { fields: { "1a": text } }],
  ["a field's name of 64 characters", { fields: { ["a".repeat(64)]: text } }],
  ["a group from a field that is not there", { fields: { a: text }, groups: [{ kind: "deck", from: "b" }] }],
  ["a group of the reserved kind org", { fields: { a: text }, groups: [{ kind: "org", from: "a" }] }],
  ["a group kind in capitals", { fields: { a: text }, groups: [{ kind: "Deck", from: "a" }] }],
  ["an unknown conflict", { fields: { a: text }, conflict: "never" }],
  ["an unknown key of a model", { fields: { a: text }, colour: 1 }],
  ["201 fields", { fields: Object.fromEntries(Array.from({ length: 201 }, (_, i) => [`f${i}`, text])) }],
];

export const section: SuiteSection = {
  title: "Schema",
  // A change of groups makes every reader of the tenant resync.
  alone: true,
  cases: [
    check("[M3] A push of a new schema is 201, and GET has it with its version and hash.", async (t) => {
      const { name, token, push } = await schemaTenant(t);
      const pushed = t.answered(await push(BASE), 201, PUSHED);
      const read = t.answered(await t.get("/v1/schema", { token }), 200, { object: "schema" });
      t.is([read.body.version, read.body.hash], [pushed.body.version, pushed.body.hash], "version and hash");
      t.fits((await readModels(t.ask, token))[name], { fields: exactly(BASE.fields) as never }, "the model");
    }),
    check("[M5] A push of the same schema is 200 and unchanged, with the same version and hash.", async (t) => {
      const { push, pushAll } = await schemaTenant(t);
      const first = t.answered(await push(BASE), 201);
      const { version, hash } = first.body as { version: number; hash: string };
      t.answered(await push(BASE), 200, { object: "schema", version, hash, unchanged: true });
      const reversed = await pushAll((models) => Object.fromEntries(Object.entries(models).reverse()));
      t.answered(reversed, 200, { version, hash, unchanged: true });
    }),
    ...checkEach(
      ADDITIVE,
      ([what]) => `[M3] ${what} takes effect at once: 201 and a new version.`,
      async (t, [, after]) => {
        const { push, create, token } = await schemaTenant(t);
        const first = t.answered(await push(BASE), 201);
        const { path } = await create({ a: "kept", e: "x" });
        t.answered(await push(after), 201, { ...PUSHED, version: atLeast(Number(first.body.version) + 1) });
        t.answered(await t.get(path, { token }), 200, { data: { a: "kept", e: "x" } });
      },
    ),
    ...checkEach(
      BREAKING,
      ([what]) => `[M3] ${what} is 409 schema_incompatible with the list of problems, and nothing changes.`,
      async (t, [, after, environment]) => {
        const { name, push, create, token } = await schemaTenant(t);
        t.answered(await push(BASE), 201);
        const { path } = await create({ a: "kept", e: "y" });
        const before = t.answered(await t.get("/v1/schema", { token }), 200);
        const refused = t.refused(await push(after), "schema_incompatible");
        const [first] = refused.body.problems as readonly unknown[];
        t.fits(
          first,
          { model: name, field: environment === "" ? absent : environment, problem: someText },
          "a problem",
        );
        t.is((await t.get("/v1/schema", { token })).text, before.text, "the schema afterwards");
        t.answered(await t.get(path, { token }), 200, { data: { a: "kept", e: "y" } });
      },
    ),
    check("[M3] A new required field without a default is accepted while there are no records.", async (t) => {
      const { push } = await schemaTenant(t);
      t.answered(await push(BASE), 201);
      t.answered(await push(fields({ ...BASE.fields, b: { type: "string", required: true } })), 201);
    }),
    check("[M7] force hides a field: its values stay stored and return when it is declared again.", async (t) => {
      const { name, push, create, token } = await schemaTenant(t);
      t.answered(await push(BASE), 201);
      const { id, path, at } = await create({ a: "hidden", n: 1 });
      const { a: _, ...rest } = BASE.fields;
      const warning = new RegExp(`^${name}\\.a: `);
      t.answered(await push(fields(rest), { force: true }), 201, { warnings: [warning] });
      t.answered(await t.get(path, { token }), 200, { data: exactly({ id, n: 1 }) });
      t.is(
        (await t.entries(at - 1, [id], { token })).map(({ data }) => data),
        [{ id, n: 1 }],
        "the log",
      );
      const snapshot = t.answered(await t.get(`/v1/snapshot?model=${name}`, { token }), 200);
      t.that(!snapshot.text.includes("hidden"), "nothing of it in the snapshot", snapshot.text);
      t.refused(await t.patch(path, { data: { a: "x" } }, { token }), "unknown_field", { param: "data.a" });
      t.answered(await t.patch(path, { data: { n: 2 } }, { token }), 200);
      t.answered(await push(BASE), 201);
      t.answered(await t.get(path, { token }), 200, { data: { a: "hidden", n: 2 } });
    }),
    check("[M7] force hides values that no longer fit their field, one by one.", async (t) => {
      const { name, push, create, token } = await schemaTenant(t);
      t.answered(await push(BASE), 201);
      const [x, y] = [await create({ e: "x" }), await create({ e: "y" })];
      const smaller = fields({ ...BASE.fields, e: { type: "enum", values: ["x"] } });
      t.answered(await push(smaller, { force: true }), 201, { warnings: [new RegExp(`^${name}\\.e: .*y`)] });
      t.answered(await t.get(x.path, { token }), 200, { data: exactly({ id: x.id, e: "x" }) });
      t.answered(await t.get(y.path, { token }), 200, { data: exactly({ id: y.id }) });
    }),
    check("[M7] force hides a model: its records are missing, and return when it is declared again.", async (t) => {
      const { push, create, token } = await schemaTenant(t);
      t.answered(await push(BASE), 201);
      const { id, path, at } = await create({ a: "hidden" });
      t.answered(await push(undefined, { force: true }), 201);
      t.refused(await t.get(path, { token }), "unknown_model");
      t.is(await t.entries(at - 1, [id], { token }), [], "its entries in the log");
      const snapshot = t.answered(await t.get("/v1/snapshot", { token }), 200);
      t.that(!snapshot.text.includes(`"${id}"`), "nothing of it in the snapshot");
      t.answered(await push({ ...BASE, groups: [{ kind: "conftry", from: "a" }] }), 201);
      t.answered(await t.get(path, { token }), 200, { data: { a: "hidden" } });
      t.is((await t.entries(at - 1, [id], { token })).length, 1, "its entries when it is back");
      const filed = t.answered(await t.get("/v1/snapshot?group=conftry:hidden", { token }), 200);
      t.that(filed.text.includes(`"${id}"`), "the record to be in the group that it has now", filed.text);
    }),
    check("[M8] renames give a field another name, in records and in older log entries.", async (t) => {
      const { name, push, create, token } = await schemaTenant(t);
      t.answered(await push(BASE), 201);
      const { id, path, at } = await create({ a: "kept", n: 1 });
      t.answered(await t.patch(path, { data: { a: "later" } }, { token }), 200);
      const { a, ...rest } = BASE.fields;
      const renames = [{ model: name, from: "a", to: "renamed" }];
      const after = fields({ ...rest, renamed: a as FieldShape });
      t.refused(await push(after), "schema_incompatible");
      t.answered(await push(after, { renames }), 201);
      t.answered(await push(after, { renames }), 200, { unchanged: true, warnings: [/was not renamed/] });
      t.answered(await push(after), 200, { unchanged: true, warnings: [] });
      t.answered(await t.get(path, { token }), 200, { data: exactly({ id, renamed: "later", n: 1 }) });
      t.fits(
        await t.entries(at - 1, [id], { token }),
        [
          { verb: "created", data: { renamed: "kept", a: absent } },
          { verb: "updated", data: { renamed: "later", a: absent }, changedFields: sameSet("renamed") },
        ],
        "the log",
      );
      t.answered(await t.patch(path, { data: { renamed: "now" } }, { token }), 200, { status: "confirmed" });
      t.refused(await t.patch(path, { data: { a: "x" } }, { token }), "unknown_field");
      const history = t.answered(await t.get(`${path}/history`, { token }), 200);
      t.is(entriesOf(history), await t.entries(at - 1, [id], { token }), "the history, with the entries of the log");
      const stale = { data: { renamed: "mine" }, readAt: at, onStale: "notify" };
      t.answered(await t.patch(path, stale, { token }), 200, {
        notifications: [{ conflictingFields: ["renamed"], currentValues: exactly({ renamed: "now" }) }],
      });
      t.answered(await t.patch(path, { data: { n: 2 }, readAt: at }, { token }), 200, { status: "confirmed" });
    }),
    check(
      "[M15] [M40] Rules of a field refuse what breaks them, from the next write on: 400 rule_broken.",
      async (t) => {
        const tenant = await schemaTenant(t);
        const rules = fields({
          title: { type: "string", minLength: 2, maxLength: 4 },
          tags: { type: "array", maxLength: 2 },
          codes: { type: "array", items: "integer" },
          rating: { type: "integer", min: 1, max: 5 },
          slug: { type: "string", readonlyAfterCreate: true },
        });
        t.answered(await tenant.push(fields({ ...rules.fields, title: text })), 201);
        const before = await tenant.create({ title: "longer than four", slug: "s" });
        t.answered(await tenant.push(rules), 201);
        const { token, path } = tenant;
        const refused = async (data: object, field: string, rule: string) => {
          const answer = await t.post(path, { id: t.id(), data }, { token });
          t.refused(answer, "rule_broken", { param: new RegExp(`^data\\.${field}$`) });
          t.is((answer.body as { rule?: unknown }).rule, rule, "the rule");
        };
        await refused({ title: "abcde" }, "title", "maxLength");
        await refused({ title: "a" }, "title", "minLength");
        await refused({ tags: [1, 2, 3] }, "tags", "maxLength");
        await refused({ codes: [1, "2"] }, "codes", "items");
        await refused({ rating: 0 }, "rating", "min");
        await refused({ rating: 6 }, "rating", "max");
        const id = t.id();
        t.answered(
          await t.post(path, { id, data: { title: "🙂🙂🙂🙂", tags: [], rating: 5, slug: "a" } }, { token }),
          200,
        );
        const patch = (at: string, data: object) => t.patch(at, { data }, { token });
        t.refused(await patch(`${path}/${id}`, { slug: "b" }), "rule_broken", { param: /^data\.slug$/ });
        // What was there before a rule stays, and does not keep other fields from being written.
        t.answered(await patch(before.path, { rating: 3 }), 200);
        t.is(dataOf(await t.get(before.path, { token })).title, "longer than four", "the older value");
        t.refused(await patch(before.path, { title: "still longer" }), "rule_broken");
      },
    ),
    check(
      "[M15] Rules that a type cannot have, that exclude each other, or that the default breaks, are 400.",
      async (t) => {
        const tenant = await schemaTenant(t);
        const wrong: readonly FieldShape[] = [
          { type: "string", items: "string" },
          { type: "array", items: "object" },
          { type: "array", items: "string", default: [1] },
          { type: "number", maxLength: 3 },
          { type: "string", min: 3 },
          { type: "string", minLength: 3, maxLength: 2 },
          { type: "integer", min: 3, max: 2 },
          { type: "string", maxLength: -1 },
          { type: "string", maxLength: 1.5 },
          { type: "string", maxLength: 2, default: "abc" },
        ];
        for (const field of wrong) {
          const answer = await tenant.push(fields({ field }));
          t.is(answer.status, 400, `the answer to ${JSON.stringify(field)}`);
        }
      },
    ),
    check(
      "[M19] [M20] [M21] Rules that cannot be judged are 400 with the field, and what can be is stored.",
      async (t) => {
        const tenant = await schemaTenant(t);
        const wrong: readonly FieldShape[] = [
          ...["(a)\\1", "(?=a)", "(?<!a)b", "a**", "(a", "[a", "a{3,2}", "a{201}", "(a?b?c?d?e?f?g?h?){12}", "\\b"].map(
            (pattern) => ({ type: "string", pattern }),
          ),
          { type: "string", pattern: "a".repeat(201) },
          { type: "integer", pattern: "1" },
          { type: "string", pattern: "a", default: "b" },
          { type: "string", transitions: { a: ["b"] } },
          { type: "enum", values: ["a", "b"], transitions: { a: ["c"] } },
          { type: "enum", values: ["a", "b"], transitions: { c: ["a"] } },
          { type: "string", writableBy: ["$updatedBy"] },
          { type: "string", writableBy: ["group:"] },
          { type: "string", writableBy: ["confrole:owner"] },
          { type: "number", default: "$now" },
          { type: "datetime", default: "$participant" },
        ];
        for (const field of wrong) {
          const answer = await tenant.push(fields({ field }));
          t.is(answer.status, 400, `the answer to ${JSON.stringify(field)}`);
        }
        const model = { ...fields({ a: { type: "string" } }), writableBy: ["group:Nobody"] };
        t.refused(await tenant.push(model), "invalid_schema", { param: /\.writableBy$/ });
        const right = {
          ...fields({
            slug: { type: "string", pattern: "^[a-z]{1,20}$", writableBy: [] },
            state: { type: "enum", values: ["a", "b"], transitions: { a: ["b"] }, writableBy: ["$createdBy"] },
          }),
          writableBy: ["group:confrole:owner"],
        };
        t.answered(await tenant.push(right), 201);
        const { [tenant.name]: stored } = await readModels(t.ask, tenant.token);
        t.is(stored, right, "the stored model");
      },
    ),
    check('[M17] Only a string can have merge, and only "text": else it is 400 with the field.', async (t) => {
      const tenant = await schemaTenant(t);
      t.answered(await tenant.push(fields({ body: { type: "string", merge: "text" } })), 201);
      const { [tenant.name]: stored } = await readModels(t.ask, tenant.token);
      t.is(stored?.fields.body, { type: "string", merge: "text" }, "the stored field");
      const wrong: readonly object[] = [
        { type: "number", merge: "text" },
        { type: "json", merge: "text" },
        { type: "string", merge: "lines" },
        { type: "string", merge: true },
        { type: "string", references: tenant.name, merge: "text" },
      ];
      for (const body of wrong) {
        const answer = await tenant.push(fields({ body: body as FieldShape }));
        t.answered(answer, 400, { param: /\.fields\.body/ });
      }
      const whole = { ...fields({ body: { type: "string", merge: "text" } }), conflict: "record" } as const;
      t.refused(await tenant.push(whole), "invalid_schema", { param: /\.fields\.body$/ });
    }),
    check("[M8] A rename of an unknown field is refused.", async (t) => {
      const { name, push } = await schemaTenant(t);
      t.answered(await push(BASE), 201);
      const renames = [{ model: name, from: "nobody", to: "b" }];
      const answer = await push(fields({ ...BASE.fields, b: text }), { renames });
      t.refused(answer, "invalid_schema", { param: "renames[0]" });
    }),
    check("[M2] Two models whose names differ only in case are refused: 400 invalid_schema.", async (t) => {
      const { name, pushAll } = await schemaTenant(t);
      const answer = await pushAll((models) => ({ ...models, [name]: BASE, [name.toUpperCase()]: BASE }));
      t.refused(answer, "invalid_schema");
    }),
    ...checkEach(
      MALFORMED,
      ([what]) => `[M2] A schema with ${what} is 400, and nothing is pushed.`,
      async (t, [, shape]) => {
        const { name, push, token } = await schemaTenant(t);
        t.answered(await push(shape as ModelShape), 400, { type: "validation_error" });
        t.is((await readModels(t.ask, token))[name], undefined, "the model");
      },
    ),
    check("[M2] A model's name is a letter and up to 62 letters, digits or _; else it is 400.", async (t) => {
      const { pushAll } = await schemaTenant(t);
      for (const bad of ["1a", "a-b", "a b", "", "ä", "a".repeat(64), "__proto"])
        t.answered(await pushAll((models) => ({ ...models, [bad]: BASE })), 400, { type: "validation_error" });
    }),
    check("[M2] A body without models, or with an unknown key, is 400.", async (t) => {
      const { token } = await schemaTenant(t);
      t.refused(await t.post("/v1/schema", {}, { token }), "missing_field");
      t.refused(await t.post("/v1/schema", { models: [] }, { token }), "invalid_type");
      t.refused(await t.post("/v1/schema", { models: {} }, { token }), "invalid_schema");
      const models = await readModels(t.ask, token);
      t.refused(await t.post("/v1/schema", { models, colour: 1 }, { token }), "unknown_field", { param: "colour" });
    }),
    check("[M4] A change of groups moves the records to their new groups and sends readers a resync.", async (t) => {
      const { name, push, create, token } = await schemaTenant(t);
      t.answered(await push(fields({ a: text })), 201);
      const value = t.id();
      const { id } = await create({ a: value });
      const stream = await t.connect({ token });
      const pushed = await push({ ...fields({ a: text }), groups: [{ kind: "conftry", from: "a" }] });
      t.answered(pushed, 201, { warnings: [new RegExp(name)] });
      t.fits(await stream.next("resync"), { reason: "schema" }, "resync");
      const snapshot = t.answered(await t.get(`/v1/snapshot?model=${name}&group=conftry:${value}`, { token }), 200);
      t.that(snapshot.text.includes(`"${id}"`), "the record to be in its new group", snapshot.text);
      // A premise on a group that is new counts as moved.
      const operations = [{ action: "update", model: name, id, data: { a: value } }];
      const reads = [{ group: `conftry:${value}`, readAt: 0 }];
      t.refused(await t.commit(operations, { reads }, { token }), "stale_context");
    }),
    check("[T4] After a push, readers get a schema frame with version and hash.", async (t) => {
      const { push, token } = await schemaTenant(t);
      const stream = await t.connect({ token });
      const { body } = t.answered(await push(BASE), 201);
      t.fits(await stream.next("schema"), { version: Number(body.version), hash: String(body.hash) }, "the frame");
    }),
    check("[M6] A group may come from the id; null or an absent value gives none.", async (t) => {
      const { name, push, create, token } = await schemaTenant(t);
      const groups = [
        { kind: "conftry", from: "id" },
        { kind: "confdeck", from: "a" },
      ];
      t.answered(await push({ fields: { a: { type: "string", nullable: true } }, groups }), 201);
      const [one, two] = [await create({}), await create({ a: null })];
      for (const { id } of [one, two]) {
        const snapshot = t.answered(await t.get(`/v1/snapshot?model=${name}&group=conftry:${id}`, { token }), 200);
        t.that(snapshot.text.includes(`"${id}"`), "the record to be in the group of its id", snapshot.text);
      }
    }),
    check("[M6] A value that cannot be a group's name is 400.", async (t) => {
      for (const deckId of ["a b", "", "x".repeat(201), "\u00a0"]) {
        const answer = await t.post(`/v1/models/${NOTE}`, { id: t.id(), data: { deckId } });
        t.answered(answer, 400, { type: "validation_error", param: "data.deckId" });
      }
    }),
    check("[M2] A schema may have 200 models, not 201.", async (t) => {
      t.admin();
      const { key: token } = await t.freshTenant(false);
      const models = (count: number): Models =>
        Object.fromEntries(Array.from({ length: count }, (_, i) => [`M${i}`, fields({ a: text })]));
      t.answered(await t.post("/v1/schema", { models: models(201) }, { token }), 400, { type: "validation_error" });
      t.answered(await t.post("/v1/schema", { models: models(200) }, { token }), 201, { version: 1 });
    }),
    check("A tenant without a schema has no schema to read and no models.", async (t) => {
      const { key: token } = await t.freshTenant(false);
      t.refused(await t.get("/v1/schema", { token }), "schema_not_found");
      t.refused(await t.get(`/v1/models/${NOTE}`, { token }), "unknown_model");
    }),
    check(
      "[K10] Only a secret key pushes: a scoped token is 403 secret_key_required, and may read the schema.",
      async (t) => {
        const { token } = await t.capability({ wideScope: true });
        const models = await readModels(t.ask, token);
        t.refused(await t.post("/v1/schema", { models }, { token }), "secret_key_required");
        t.answered(await t.get("/v1/schema", { token }), 200, { object: "schema" });
      },
    ),
  ],
};
