import {
  ACTIONS,
  CommitBody,
  type EndpointName,
  type EndpointSchema,
  endpoints,
  type Model,
  type ModelSchema,
  paths,
} from "@holdfast/sdk/protocol";
import fc from "fast-check";
import { Later } from "../exchange/memory.ts";
import { type Mutation, mutation } from "./mutation.ts";
import { groupName, payload, recordId } from "./payload.ts";
import { conditionsOn, orderByOf, sortKeysOf } from "./query.ts";
import { type Hint, type Presence, type Shape, shaped } from "./shaped.ts";
import { nastyValue } from "./values.ts";

/** The sender: an actor by name, or a token that the run has created. */
export type Who = string | number;

/** A request before anything of it is known: placeholders are filled in, and mutations done, when it is sent. */
export type Plan =
  | {
      readonly kind: "fresh";
      readonly endpoint: EndpointName;
      readonly who: Who;
      readonly parameters: Readonly<Record<string, unknown>>;
      readonly query: readonly (readonly [string, unknown])[];
      readonly key: string | undefined;
      readonly body: unknown;
      readonly mutations: readonly Mutation[];
    }
  /** The next page of a list that was begun, or an earlier write once more. */
  | { readonly kind: "next page" | "again"; readonly n: number; readonly mutations: readonly Mutation[] }
  | { readonly kind: "page"; readonly path: string; readonly who: Who; readonly mutations: readonly Mutation[] };

const WEIGHTS: Readonly<Partial<Record<EndpointName, number>>> = {
  createRecord: 14,
  updateRecord: 14,
  deleteRecord: 6,
  archiveRecord: 4,
  unarchiveRecord: 4,
  commit: 16,
  commitBulk: 8,
  readRecord: 6,
  listRecords: 12,
  queryRecords: 12,
  readHistory: 5,
  readLog: 6,
  createOrganization: 1,
  createSecretKey: 1,
};
const USUAL_WEIGHT = 3;

/** The probability of an optional key in percent, so that most requests are valid. */
const PRESENCE: Presence = {
  // Without a claim, such a write is refused.
  claim: 3,
  fenceToken: 3,
  reads: 15,
  // Beside the path's id, and beside the header.
  id: 4,
  idempotencyKey: 4,
  starting_after: 4,
  ending_before: 4,
  ids: 12,
};
const PRESENCE_AT: Readonly<Partial<Record<EndpointName, Presence>>> = {
  createRecord: { ...PRESENCE, id: 97 },
  updateRecord: { ...PRESENCE, data: 97 },
  createCapability: { operations: 92, syncGroups: 92, wideScope: 20, participantKind: 60 },
  revokeEphemeralKeys: { user: 92 },
  queryRecords: { where: 85, orderBy: 50, count: 15, countBy: 15, starting_after: 4, ending_before: 4 },
};

/** Pages and probes that are no endpoints of the table. */
const PAGES = [
  "/livez",
  "/readyz",
  "/metrics",
  "/openapi.json",
  "/docs",
  "/docs/errors",
  "/docs/assets/page.js",
  "/v1/stream",
  "/",
];

export function plans(schema: ModelSchema): fc.Arbitrary<Plan> {
  const mutations = fc.oneof(
    { weight: 6, arbitrary: fc.constant([]) },
    { weight: 5, arbitrary: fc.array(mutation, { minLength: 1, maxLength: 3 }) },
  );
  const fresh = (Object.keys(paths) as EndpointName[]).map((endpoint) => ({
    weight: WEIGHTS[endpoint] ?? USUAL_WEIGHT,
    arbitrary: freshPlan(endpoint, schema, mutations),
  }));
  const ofEarlier = (kind: "next page" | "again") => fc.record({ kind: fc.constant(kind), n: fc.nat(63), mutations });
  return fc.oneof(
    { weight: 90, arbitrary: fc.oneof(...fresh) as fc.Arbitrary<Plan> },
    { weight: 5, arbitrary: ofEarlier("next page") as fc.Arbitrary<Plan> },
    { weight: 4, arbitrary: ofEarlier("again") as fc.Arbitrary<Plan> },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant("page" as const),
        path: fc.constantFrom(...PAGES),
        who: anybody,
        mutations,
      }),
    },
  );
}

const named = (names: Readonly<Record<string, number>>) =>
  Object.entries(names).map(([name, weight]) => ({ weight, arbitrary: fc.constant<Who>(name) }));
const minted = fc.nat(63) as fc.Arbitrary<Who>;
const USELESS = { expired: 1, revoked: 1, "revoked key": 1, anonymous: 1, mistyped: 1, unknown: 1, basic: 1, empty: 1 };
const SCOPED = { wide: 8, reader: 5, narrow: 14, grouped: 10, person: 6, editor: 8 };

const anybody: fc.Arbitrary<Who> = fc.oneof(
  { weight: 5, arbitrary: minted },
  ...named({ live: 50, test: 4, theirs: 4, pushed: 10, operator: 1, ...SCOPED, ...USELESS }),
);
const keyHolder: fc.Arbitrary<Who> = fc.oneof(
  { weight: 5, arbitrary: minted },
  ...named({ live: 60, test: 8, theirs: 8, pushed: 10, wide: 2, narrow: 2, ...USELESS }),
);
const operator: fc.Arbitrary<Who> = fc.oneof(...named({ operator: 30, live: 2, narrow: 1, anonymous: 1 }));

function freshPlan(
  endpoint: EndpointName,
  schema: ModelSchema,
  mutations: fc.Arbitrary<readonly Mutation[]>,
): fc.Arbitrary<Plan> {
  const { audience, body, bodyOptional, query = {}, filters }: EndpointSchema = endpoints[endpoint];
  const path: string = paths[endpoint][1];
  const who =
    endpoint === "pushSchema"
      ? fc.oneof({ weight: 20, arbitrary: fc.constant<Who>("pushed") }, { weight: 1, arbitrary: anybody })
      : audience === "token"
        ? anybody
        : audience === "secret_key"
          ? keyHolder
          : operator;
  const ofModel = (name: string, model: Model) => {
    const hint = hints(schema, { name, model, isWhole: endpoint === "createRecord" });
    const presence = PRESENCE_AT[endpoint] ?? PRESENCE;
    const whole = body ? (bodies[endpoint]?.(schema) ?? shaped(body as Shape, hint, presence)) : fc.constant(undefined);
    return fc.record({
      kind: fc.constant("fresh" as const),
      endpoint: fc.constant(endpoint),
      who,
      parameters: fc.record(
        Object.fromEntries(
          [...path.matchAll(/:([A-Za-z]+)/g)].map(([, parameter = ""]) => [
            parameter,
            pathParameter(parameter, path, name),
          ]),
        ),
      ),
      query: queryOf(query, filters === true, { name, model, schema, presence }),
      key: body && endpoint !== "commitBulk" ? fc.option(txName, { nil: undefined, freq: 3 }) : fc.constant(undefined),
      body: bodyOptional ? fc.option(whole, { nil: undefined }) : whole,
      mutations,
    });
  };
  const models = Object.entries(schema.models);
  return path.includes(":model")
    ? fc.oneof(...models.map(([name, model]) => ofModel(name, model)))
    : ofModel(...(models[0] as [string, Model]));
}

const later = (what: Later["what"], most = 63) => fc.nat(most).map((n) => new Later(what, n));
/** Mostly a new name, sometimes one that was there. */
const txName = fc
  .oneof({ weight: 9, arbitrary: fc.nat(1_000_000) }, { weight: 1, arbitrary: fc.nat(30) })
  .map((n) => `t${n}`);
const person = fc.nat(5).map((n) => `fz${n}`);

function pathParameter(name: string, path: string, model: string): fc.Arbitrary<unknown> {
  if (name === "model") return fc.constantFrom(model, model, model, model.toUpperCase());
  if (name === "clientTxId") return later("commit");
  if (path.includes("/capabilities")) return later("capability");
  if (path.includes("/ephemeral_keys")) return later("ephemeralKey");
  if (path.includes("/secret_keys")) return later("secretKey");
  return recordId;
}

/** Generators by the key of a body or query. */
function hints(schema: ModelSchema, at: { name: string; model: Model; isWhole: boolean }): Hint {
  const names = Object.keys(schema.models);
  const operation = fc.oneof(
    {
      weight: 5,
      arbitrary: fc
        .constantFrom(...names)
        .chain((name) => fc.constantFrom("*", "read", "create", "update", "delete").map((can) => `${name}.${can}`)),
    },
    { weight: 1, arbitrary: fc.constantFrom("*.*", "*.read", "claim.preempt") },
  );
  const known: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
    id: recordId,
    model: fc.constantFrom(...names),
    data: payload(at.model, at.isWhole),
    readAt: later("position", 400),
    after: later("position", 400),
    onStale: fc.constantFrom(null, "reject", "overwrite", "notify", "force", "flag", "merge"),
    clientTxId: txName,
    idempotencyKey: txName,
    clientId: fc.constantFrom("c0", "c1", "c2"),
    transactionId: fc.constantFrom("x0", "x1"),
    group: groupName(schema),
    reads: fc.array(readOf(schema), { minLength: 1, maxLength: 3 }),
    fields: fc.subarray(Object.keys(at.model.fields)),
    syncGroups: fc.array(groupName(schema), { minLength: 1, maxLength: 4 }),
    operations: fc.array(operation, { minLength: 1, maxLength: 4 }),
    participantKind: fc.constantFrom("agent", "system"),
    participantId: person,
    participant: person.map((id) => `agent:${id}`),
    user: person,
    organization: later("organization"),
    starting_after: later("cursor"),
    ending_before: later("cursor"),
    order_by: fc.oneof(
      fc.constantFrom("id", "createdAt", "updatedAt", ...Object.keys(at.model.fields)),
      orderByOf(at.model),
    ),
    orderBy: sortKeysOf(at.model),
    countBy: fc.constantFrom(...Object.keys(at.model.fields), "id", "$createdBy", "$syncId", "gone"),
    ids: fc.array(recordId, { minLength: 1, maxLength: 5 }).map((ids) => ids.join(",")),
    starting_at: fc.constantFrom("2020-01-01", "2026-01-31T00:00:00Z", "1999-12-31"),
    ending_at: fc.constantFrom("2099-12-31", "2026-02-01"),
    // Long polls wait, but not for long.
    wait: fc.constantFrom(0, 0, 1, 50, 120),
    ttlSeconds: fc.integer({ min: 1, max: 3_600 }),
  };
  const where = conditionsOn(at.model);
  return (key, shape) => {
    if (shape.type === "object" && key === "user") return shapedPerson;
    if (shape.type === "object" && key === "where") return where;
    return Object.hasOwn(known, key) ? known[key] : undefined;
  };
}

/** A premise: on a record or on a group. */
const readOf = (schema: ModelSchema): fc.Arbitrary<unknown> => {
  const readAt = later("position", 400);
  const onStale = fc.constantFrom("reject", "overwrite", "notify");
  return fc.oneof(
    fc.record(
      {
        model: fc.constantFrom(...Object.keys(schema.models)),
        id: recordId,
        readAt,
        onStale,
        fields: fc.constant(["title"]),
      },
      { requiredKeys: ["model", "id", "readAt"] },
    ),
    fc.record({ group: groupName(schema), readAt, onStale }, { requiredKeys: ["group", "readAt"] }),
  );
};

const shapedPerson = person.map((id) => ({ id }));

/** Bodies that a schema alone does not tell how to make. */
const bodies: Partial<Record<EndpointName, (schema: ModelSchema) => fc.Arbitrary<unknown>>> = {
  commit: (schema) => commitBody(schema, 8),
  commitBulk: (schema) =>
    fc.record({
      commits: fc.array(
        fc.oneof(
          {
            weight: 12,
            arbitrary: fc
              .tuple(commitBody(schema, 3), txName)
              .map(([body, name]) => ({ ...(body as object), clientTxId: name })),
          },
          { weight: 1, arbitrary: commitBody(schema, 2) },
          { weight: 1, arbitrary: nastyValue },
        ),
        { minLength: 1, maxLength: 6 },
      ),
    }),
  pushSchema: pushBody,
};

function commitBody(schema: ModelSchema, most: number): fc.Arbitrary<unknown> {
  const { operations, ...rest } = CommitBody.properties;
  const some = Object.entries(schema.models)[0] as [string, Model];
  const shape = { type: "object", properties: rest, required: [] } as unknown as Shape;
  return fc
    .tuple(
      shaped(shape, hints(schema, { name: some[0], model: some[1], isWhole: false }), PRESENCE),
      fc.array(operationOf(schema, operations.items as unknown as Shape), { minLength: 1, maxLength: most }),
    )
    .map(([names, list]) => ({ ...(names as object), operations: list }));
}

/** An operation on any model, with the data that its action takes. */
function operationOf(schema: ModelSchema, { properties = {} }: Shape): fc.Arbitrary<unknown> {
  const { action: _action, model: _model, data: _data, ...rest } = properties;
  const others = { type: "object", properties: rest, required: ["id"] } as Shape;
  return fc.oneof(
    ...Object.entries(schema.models).flatMap(([name, model]) =>
      ACTIONS.map((action) => ({
        weight: action === "create" || action === "update" ? 5 : 1,
        arbitrary: fc
          .tuple(
            shaped(others, hints(schema, { name, model, isWhole: action === "create" }), PRESENCE),
            action === "create" || action === "update" ? payload(model, action === "create") : fc.constant(undefined),
          )
          .map(([more, data]) => ({ action, model: name, ...(more as object), ...(data && { data }) })),
      })),
    ),
  );
}

/** Schemas that lose, add, narrow and rename fields of a few models. */
function pushBody(schema: ModelSchema): fc.Arbitrary<unknown> {
  const pushed = fc.constantFrom(...Object.keys(schema.models).slice(0, 5));
  const name = fc.constantFrom("title", "order", "notes", "status", "extra", "deckId");
  const type = fc.constantFrom<Model["fields"][string]>(
    { type: "string" },
    { type: "number", default: 0 },
    { type: "json", nullable: true },
    { type: "enum", values: ["a", "b"] },
    { type: "string", required: true, default: "" },
    { type: "integer", index: true },
  );
  const model = fc.record(
    {
      fields: fc.dictionary(name, type, { maxKeys: 5 }),
      groups: fc.constantFrom([], [], [{ kind: "document", from: "id" }], [{ kind: "deck", from: "deckId" }]),
      conflict: fc.constantFrom("field", "record"),
    },
    { requiredKeys: ["fields"] },
  );
  const changed = fc.dictionary(fc.oneof(pushed, fc.constantFrom("note", "Note2")), model, { minKeys: 1, maxKeys: 4 });
  return fc.record(
    {
      models: fc.oneof(
        { weight: 1, arbitrary: fc.constant(schema.models) },
        { weight: 2, arbitrary: changed },
        { weight: 3, arbitrary: changed.map((some) => ({ ...schema.models, ...some })) },
      ),
      force: fc.boolean(),
      renames: fc.oneof(
        { weight: 4, arbitrary: fc.constant([]) },
        { weight: 1, arbitrary: fc.array(fc.record({ model: pushed, from: name, to: name }), { maxLength: 2 }) },
      ),
    },
    { requiredKeys: ["models"] },
  );
}

function queryOf(
  table: NonNullable<EndpointSchema["query"]>,
  filters: boolean,
  { name, model, schema, presence }: { name: string; model: Model; schema: ModelSchema; presence: Presence },
): fc.Arbitrary<readonly (readonly [string, unknown])[]> {
  const hint = hints(schema, { name, model, isWhole: false });
  const one = Object.entries(table).map(([parameter, { schema: shape = { type: "string" } }]) =>
    fc
      .tuple(fc.nat(99), hint(parameter, shape as Shape) ?? shaped(shape as Shape, hint))
      .map(([n, value]) => (n >= 100 - (presence[parameter] ?? 25) ? [[parameter, value] as const] : [])),
  );
  return fc.tuple(filters ? filtersOf(model) : fc.constant([]), ...one).map((lists) => lists.flat());
}

function filtersOf(model: Model): fc.Arbitrary<readonly (readonly [string, unknown])[]> {
  const one = Object.keys(model.fields).map((field) =>
    fc
      .tuple(fc.constantFrom("", "[gt]", "[gte]", "[lt]", "[lte]", "[null]"), payload(model, false))
      .map(([operator, data]) => {
        const value = operator === "[null]" ? true : (data[field] ?? "a");
        return [`filter[${field}]${operator}`, typeof value === "object" ? JSON.stringify(value) : value] as const;
      }),
  );
  return fc.array(fc.oneof(...one), { maxLength: 2 });
}
