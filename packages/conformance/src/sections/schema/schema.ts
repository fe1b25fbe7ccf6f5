import type { Answer } from "../../answers.ts";
import { positionOf } from "../../answers.ts";
import type { Kit } from "../../kit.ts";
import { type FieldShape, type ModelShape, type Models, NOTE } from "../../models.ts";
import { absent, aList, atLeast, exactly, sameSet, someText } from "../../pattern.ts";
import { readModels, type SchemaExtras } from "../../schemas.ts";
import { check, checkEach, type SuiteSection } from "../../section.ts";

/** A tenant to push to, and a model name of the case's own. */
interface Workshop {
  readonly name: string;
  readonly path: string;
  readonly token: string;
  /** Pushes the model in this shape; undefined takes it out. */
  push(shape: ModelShape | undefined, extras?: SchemaExtras): Promise<Answer>;
  pushAll(change: (models: Models) => Models, extras?: SchemaExtras): Promise<Answer>;
  create(data: object): Promise<{ readonly id: string; readonly path: string; readonly at: number }>;
}

let made = 0;

/** With an admin token an organization of its own; else the run's tenant, where the model is taken out again at the end. */
async function workshop(t: Kit): Promise<Workshop> {
  const name = `ConfTry${Date.now().toString(36)}${++made}`;
  const token = t.environment.adminToken === undefined ? t.environment.key : (await t.freshTenant()).key;
  const pushAll: Workshop["pushAll"] = (change, extras) => t.environment.push(token, change, extras);
  const push: Workshop["push"] = (shape, extras) =>
    pushAll(({ [name]: _, ...others }) => (shape ? { ...others, [name]: shape } : others), extras);
  t.after(() => push(undefined, { force: true }));
  const path = `/v1/models/${name}`;
  const create: Workshop["create"] = async (data) => {
    const id = t.id();
    const answer = t.answered(await t.post(path, { id, data }, { token }), 200);
    return { id, path: `${path}/${id}`, at: positionOf(answer) };
  };
  return { name, path, token, push, pushAll, create };
}

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
  // Changing groups makes every reader of the tenant read anew.
  alone: true,
  cases: [
    check("A push of something new is 201, and GET shows it under its version and hash.", async (t) => {
      const { name, token, push } = await workshop(t);
      const pushed = t.answered(await push(BASE), 201, PUSHED);
      const read = t.answered(await t.get("/v1/schema", { token }), 200, { object: "schema" });
      t.is([read.body.version, read.body.hash], [pushed.body.version, pushed.body.hash], "version and hash");
      t.fits((await readModels(t.ask, token))[name], { fields: exactly(BASE.fields) as never }, "the model");
    }),
    check("The same again is 200 and unchanged, with the version and the hash that it has.", async (t) => {
      const { push } = await workshop(t);
      const first = t.answered(await push(BASE), 201);
      const { version, hash } = first.body as { version: number; hash: string };
      t.answered(await push(BASE), 200, { object: "schema", version, hash, unchanged: true });
    }),
    ...checkEach(
      ADDITIVE,
      ([what]) => `${what} lands at once: 201 and a new version.`,
      async (t, [, after]) => {
        const { push, create, token } = await workshop(t);
        const first = t.answered(await push(BASE), 201);
        const { path } = await create({ a: "kept", e: "x" });
        t.answered(await push(after), 201, { ...PUSHED, version: atLeast(Number(first.body.version) + 1) });
        t.answered(await t.get(path, { token }), 200, { data: { a: "kept", e: "x" } });
      },
    ),
    ...checkEach(
      BREAKING,
      ([what]) => `${what} is 409 schema_incompatible with the list of what is wrong, and nothing changes.`,
      async (t, [, after, environment]) => {
        const { name, push, create, token } = await workshop(t);
        t.answered(await push(BASE), 201);
        const { path } = await create({ a: "kept", e: "y" });
        const before = t.answered(await t.get("/v1/schema", { token }), 200);
        const refused = t.refused(await push(after), "schema_incompatible");
        const lists = Object.values(refused.body).filter((value) => Array.isArray(value) && value.length > 0);
        t.that(JSON.stringify(lists).includes(name), `a list that names ${name}`, lists);
        if (environment !== "")
          t.that(
            JSON.stringify(lists).includes(`"${environment}"`),
            `a list that names the field ${environment}`,
            lists,
          );
        t.is((await t.get("/v1/schema", { token })).text, before.text, "the schema afterwards");
        t.answered(await t.get(path, { token }), 200, { data: { a: "kept", e: "y" } });
      },
    ),
    check("A new required field without a default lands while there are no records.", async (t) => {
      const { push } = await workshop(t);
      t.answered(await push(BASE), 201);
      t.answered(await push(fields({ ...BASE.fields, b: { type: "string", required: true } })), 201);
    }),
    check("force hides a field: its values stay stored and return when it is declared again.", async (t) => {
      const { push, create, token } = await workshop(t);
      t.answered(await push(BASE), 201);
      const { id, path } = await create({ a: "hidden", n: 1 });
      const { a: _, ...rest } = BASE.fields;
      t.answered(await push(fields(rest), { force: true }), 201);
      t.answered(await t.get(path, { token }), 200, { data: exactly({ id, n: 1 }) });
      t.refused(await t.patch(path, { data: { a: "x" } }, { token }), "unknown_field", { param: "data.a" });
      t.answered(await t.patch(path, { data: { n: 2 } }, { token }), 200);
      t.answered(await push(BASE), 201);
      t.answered(await t.get(path, { token }), 200, { data: { a: "hidden", n: 2 } });
    }),
    check("force hides a model: its records are missing, and return when it is declared again.", async (t) => {
      const { push, create, token } = await workshop(t);
      t.answered(await push(BASE), 201);
      const { path } = await create({ a: "hidden" });
      t.answered(await push(undefined, { force: true }), 201);
      t.refused(await t.get(path, { token }), "unknown_model");
      t.answered(await push(BASE), 201);
      t.answered(await t.get(path, { token }), 200, { data: { a: "hidden" } });
    }),
    check("renames give a field another name, in records and in older log entries.", async (t) => {
      const { name, push, create, token } = await workshop(t);
      t.answered(await push(BASE), 201);
      const { id, path, at } = await create({ a: "kept", n: 1 });
      t.answered(await t.patch(path, { data: { a: "later" } }, { token }), 200);
      const { a, ...rest } = BASE.fields;
      const renames = [{ model: name, from: "a", to: "renamed" }];
      t.answered(await push(fields({ ...rest, renamed: a as FieldShape }), { renames }), 201);
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
    }),
    check("A rename of what is not there is refused.", async (t) => {
      const { name, push } = await workshop(t);
      t.answered(await push(BASE), 201);
      const renames = [{ model: name, from: "nobody", to: "b" }];
      const answer = await push(fields({ ...BASE.fields, b: text }), { renames });
      t.that([400, 409].includes(answer.status), "400 or 409", answer.body);
    }),
    check("Two models whose names differ only in case are refused: 400 invalid_schema.", async (t) => {
      const { name, pushAll } = await workshop(t);
      const answer = await pushAll((models) => ({ ...models, [name]: BASE, [name.toUpperCase()]: BASE }));
      t.refused(answer, "invalid_schema");
    }),
    ...checkEach(
      MALFORMED,
      ([what]) => `A schema with ${what} is 400, and nothing is pushed.`,
      async (t, [, shape]) => {
        const { name, push, token } = await workshop(t);
        t.answered(await push(shape as ModelShape), 400, { type: "validation_error" });
        t.is((await readModels(t.ask, token))[name], undefined, "the model");
      },
    ),
    check("A model's name is a letter and up to 62 letters, digits or _; else it is 400.", async (t) => {
      const { pushAll } = await workshop(t);
      for (const bad of ["1a", "a-b", "a b", "", "ä", "a".repeat(64), "__proto"])
        t.answered(await pushAll((models) => ({ ...models, [bad]: BASE })), 400, { type: "validation_error" });
    }),
    check("A body without models, or with an unknown key, is 400.", async (t) => {
      const { token } = await workshop(t);
      t.answered(await t.post("/v1/schema", {}, { token }), 400, { type: "validation_error" });
      const models = await readModels(t.ask, token);
      t.refused(await t.post("/v1/schema", { models, colour: 1 }, { token }), "unknown_field", { param: "colour" });
    }),
    check("Changing groups files the records anew and tells readers to resync.", async (t) => {
      const { name, push, create, token } = await workshop(t);
      t.answered(await push(fields({ a: text })), 201);
      const value = t.id();
      const { id } = await create({ a: value });
      const stream = await t.hear({ token });
      t.answered(await push({ ...fields({ a: text }), groups: [{ kind: "conftry", from: "a" }] }), 201);
      t.fits(await stream.next("resync"), { reason: "schema" }, "resync");
      const snapshot = t.answered(await t.get(`/v1/snapshot?model=${name}&group=conftry:${value}`, { token }), 200);
      t.that(snapshot.text.includes(`"${id}"`), "the record to be in its new group", snapshot.text);
    }),
    check("A push is told to readers in a schema frame with version and hash.", async (t) => {
      const { push, token } = await workshop(t);
      const stream = await t.hear({ token });
      const { body } = t.answered(await push(BASE), 201);
      t.fits(await stream.next("schema"), { version: Number(body.version), hash: String(body.hash) }, "the frame");
    }),
    check("A group may come from the id; null or an absent value gives none.", async (t) => {
      const { name, push, create, token } = await workshop(t);
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
    check("A value that cannot be a group's name is 400.", async (t) => {
      for (const deckId of ["a b", "", "x".repeat(201), "\u00a0"]) {
        const answer = await t.post(`/v1/models/${NOTE}`, { id: t.id(), data: { deckId } });
        t.answered(answer, 400, { type: "validation_error", param: "data.deckId" });
      }
    }),
    check("200 models are taken, 201 are not.", async (t) => {
      t.admin();
      const { key: token } = await t.freshTenant(false);
      const models = (count: number): Models =>
        Object.fromEntries(Array.from({ length: count }, (_, i) => [`M${i}`, fields({ a: text })]));
      t.answered(await t.post("/v1/schema", { models: models(201) }, { token }), 400, { type: "validation_error" });
      t.answered(await t.post("/v1/schema", { models: models(200) }, { token }), 201, { version: 1 });
    }),
    check("A tenant without a schema has none to read, and no model.", async (t) => {
      const { key: token } = await t.freshTenant(false);
      t.refused(await t.get("/v1/schema", { token }), "schema_not_found");
      t.refused(await t.get(`/v1/models/${NOTE}`, { token }), "unknown_model");
    }),
    check(
      "Only a secret key pushes: a scoped token is 403 secret_key_required, and may read the schema.",
      async (t) => {
        const { token } = await t.capability({ wideScope: true });
        const models = await readModels(t.ask, token);
        t.refused(await t.post("/v1/schema", { models }, { token }), "secret_key_required");
        t.answered(await t.get("/v1/schema", { token }), 200, { object: "schema" });
      },
    ),
  ],
};
