import { exactly } from "../../assertions/pattern.ts";
import type { FieldShape } from "../../environment/models.ts";
import type { Kit } from "../../kit/kit.ts";
import { schemaTenant } from "../../kit/schema-tenant.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import { type Answer, entriesOf, rowsOf } from "../../protocol/answers.ts";

const text: FieldShape = { type: "string" };
const number: FieldShape = { type: "number", default: 0 };
const tags: FieldShape = { type: "array", items: "string" };
const OLDER = { fields: { title: text, order: number, tags, note: text } };
const NEWER = { fields: { heading: text, place: number, labels: tags, note: text, extra: text } };
/** A new field has a name that the older client knows for another one. */
const LATEST = { fields: { ...NEWER.fields, title: text } };
const RENAMES = { title: "heading", order: "place", tags: "labels" };

/** A model whose fields were renamed, and how clients with the schema from before and with the newest one ask. */
async function renamed(t: Kit, before?: (tenant: Awaited<ReturnType<typeof opened>>) => Promise<unknown>) {
  const tenant = await opened(t);
  const { name, push, create, client, versionOf } = tenant;
  const older = client(versionOf(await push(OLDER)));
  const { id, path: record } = await create({ title: "One", order: 1, tags: ["x"], note: "n" });
  await before?.({ ...tenant, client: () => older });
  const renames = Object.entries(RENAMES).map(([from, to]) => ({ model: name, from, to }));
  versionOf(await push(NEWER, { renames }));
  const newer = client(versionOf(await push(LATEST)));
  return { ...tenant, id, record, older, newer };
}

async function opened(t: Kit) {
  const tenant = await schemaTenant(t);
  const { token } = tenant;
  const client =
    (version?: string) =>
    (method: string, path: string, json?: unknown, key?: string): Promise<Answer> =>
      t.ask(method, path, {
        token,
        ...(version !== undefined && { headers: { "holdfast-schema": version } }),
        ...(json !== undefined && { json }),
        ...(key !== undefined && { key }),
      });
  return { ...tenant, client, versionOf: (pushed: Answer) => String(t.answered(pushed, 201).body.version) };
}

const fieldsOf = (claims: unknown) => (claims as { readonly field: string }[]).map(({ field }) => field);
const where = (conditions: object) => `where=${encodeURIComponent(JSON.stringify(conditions))}`;

type Renamed = Awaited<ReturnType<typeof renamed>>;
const PATH = "/v1/models/MODEL";
const target = { model: "MODEL", id: "RECORD" };
const batch = { operations: [{ action: "update", ...target, data: { order: "x" } }] };

const WRONG: readonly (readonly [what: string, request: string, json: unknown, code: string, param: string])[] = [
  ["a value", `PATCH ${PATH}/RECORD`, { data: { title: 7 } }, "invalid_type", "data.title"],
  ["a value in a batch", "POST /v1/commits", batch, "invalid_type", "operations[0].data.order"],
  ["a change", `PATCH ${PATH}/RECORD`, { changes: { title: { increment: 1 } } }, "invalid_type", "changes.title"],
  ["a field that it cannot know", `PATCH ${PATH}/RECORD`, { data: { heading: "x" } }, "unknown_field", "data.heading"],
  ["a field that there never was", `PATCH ${PATH}/RECORD`, { data: { never: "x" } }, "unknown_field", "data.never"],
  ["a filter", `GET ${PATH}?filter[order][gte]=x`, undefined, "invalid_type", "filter[order][gte]"],
  ["a filter that it cannot know", `GET ${PATH}?heading=x`, undefined, "unknown_column", "heading"],
  ["an order that it cannot know", `GET ${PATH}?order_by=place`, undefined, "unknown_column", "order_by"],
  [
    "a condition",
    `POST ${PATH}/query`,
    { where: { or: [{ order: 1 }, { order: { gte: "x" } }] } },
    "invalid_value",
    "where.or[1].order.gte",
  ],
  [
    "a condition that it cannot know",
    `POST ${PATH}/query`,
    { where: { heading: "x" } },
    "unknown_field",
    "where.heading",
  ],
  [
    "a sort key that it cannot know",
    `POST ${PATH}/query`,
    { orderBy: ["title", "place"] },
    "unknown_field",
    "orderBy[1]",
  ],
  ["a claim", "POST /v1/claims", { target: { ...target, field: "place" } }, "unknown_column", "target.field"],
];

export const section: SuiteSection = {
  title: "Clients with an older schema",
  alone: true,
  cases: [
    check(
      "[M30] [M32] After a rename, a client with the older schema reads a record under its own names.",
      async (t) => {
        const { older, newer, client, id, record } = await renamed(t);
        t.answered(await newer("PATCH", record, { data: { title: "Another field", extra: "e" } }), 200);
        const both = { id, note: "n", extra: "e" };
        t.answered(await older("GET", record), 200, {
          data: exactly({ ...both, title: "One", order: 1, tags: ["x"] }),
        });
        const now = exactly({ ...both, heading: "One", place: 1, labels: ["x"], title: "Another field" });
        for (const ask of [newer, client(), client("99"), client("0000000")])
          t.answered(await ask("GET", record), 200, { data: now });
      },
    ),
    check("[M30] It writes under its own names: whole, in part, by changes, in a batch and in a bulk.", async (t) => {
      const { older, newer, name, path } = await renamed(t);
      const ids = [t.id(), t.id(), t.id()];
      const create = (id: string | undefined) => ({
        action: "create",
        model: name.toUpperCase(),
        id,
        data: { title: id },
      });
      t.answered(await older("POST", path, { id: ids[0], data: { title: "B" } }), 200);
      t.answered(await older("PATCH", `${path}/${ids[0]}`, { data: { title: "B2", note: "m" } }), 200);
      const changes = { order: { increment: 2 }, tags: { add: ["y"] } };
      t.answered(await older("PATCH", `${path}/${ids[0]}`, { changes }), 200);
      t.answered(await older("POST", "/v1/commits", { operations: [create(ids[1])] }), 200);
      const commits = [{ clientTxId: t.id(), operations: [create(ids[2])] }];
      t.answered(await older("POST", "/v1/commits/bulk", { commits }), 200, { data: [{ httpStatus: 200 }] });
      const whole = exactly({ id: ids[0], heading: "B2", place: 2, labels: ["y"], note: "m" });
      t.answered(await newer("GET", `${path}/${ids[0]}`), 200, { data: whole });
      for (const id of ids.slice(1))
        t.answered(await newer("GET", `${path}/${id}`), 200, { data: { heading: String(id) } });
    }),
    check(
      "[M30] [G26] It lists and queries under its own names, with filters, several sort keys and pages.",
      async (t) => {
        const { older, newer, path } = await renamed(t);
        for (const [title, order] of [
          ["Two", 2],
          ["Two", 1],
        ])
          t.answered(await older("POST", path, { id: t.id(), data: { title, order, tags: ["y"] } }), 200);
        const told = (answer: Answer) => rowsOf(t.answered(answer, 200)).map(({ title, order }) => `${title} ${order}`);
        for (const [query, titles] of [
          ["order_by=order:desc,title", ["Two 2", "One 1", "Two 1"]],
          ["order_by=title:desc,order", ["Two 1", "Two 2", "One 1"]],
          ["title=One", ["One 1"]],
          ["filter[order][gte]=2", ["Two 2"]],
          ["filter[tags][contains]=x", ["One 1"]],
        ] as const)
          t.is(told(await older("GET", `${path}?${query}`)), titles, `the records by ${query}`);
        const query = {
          where: { or: [{ title: "Two" }, { tags: { contains: "x" } }], order: { gte: 1 } },
          orderBy: ["title", { field: "order", order: "desc" }],
        };
        const first = await older("POST", `${path}/query`, { ...query, limit: 2 });
        t.is(told(first), ["One 1", "Two 2"], "the records of a query");
        const rest = await older("POST", `${path}/query`, { ...query, starting_after: first.body.next_cursor });
        t.is(told(rest), ["Two 1"], "the records of the next page");
        const paged = await older("GET", `${path}?order_by=title&limit=2`);
        const cursor = encodeURIComponent(String(paged.body.next_cursor));
        t.is(
          told(await older("GET", `${path}?order_by=title&starting_after=${cursor}`)).length,
          1,
          "records on the last page",
        );
        t.refused(await newer("POST", `${path}/query`, query), "unknown_field");
        t.answered(await newer("POST", `${path}/query`, { where: { heading: "One" }, orderBy: ["place"] }), 200, {
          data: [{ heading: "One" }],
        });
      },
    ),
    check("[M30] It reads log, history and snapshot under its own names, and follows records by them.", async (t) => {
      const { older, name, path, id, record } = await renamed(t);
      t.answered(await older("PATCH", record, { data: { title: "New", order: 3 } }), 200);
      const other = t.id();
      t.answered(await older("POST", path, { id: other, data: { title: "Two", order: 2 } }), 200);
      const entries = entriesOf(t.answered(await older("GET", `/v1/log?after=0&model=${name}`), 200));
      t.is(
        entries.map(({ data }) => data?.title),
        ["One", "New", "Two"],
        "the titles in the log",
      );
      t.is(entries[1]?.changedFields, ["title", "order"], "the changed fields");
      t.is(entriesOf(await older("GET", `${record}/history`)), entries.slice(0, 2), "the history");
      const followed = where({ [name.toLowerCase()]: { order: { gte: 3 }, title: "New" } });
      const snapshot = t
        .answered(await older("GET", `/v1/snapshot?model=${name}&${followed}`), 200)
        .text.trim()
        .split("\n");
      const data = { id, title: "New", order: 3, tags: ["x"], note: "n" };
      t.fits(JSON.parse(String(snapshot[1])), { data: exactly(data) }, "the line of the record");
      t.is(snapshot.length, 3, "lines");
      const either = where({ [name]: [{ title: "New" }, { order: 2 }] });
      for (const [conditions, ids] of [
        [followed, [id]],
        [either, [id, other]],
      ] as const) {
        const log = entriesOf(await older("GET", `/v1/log?after=0&model=${name}&${conditions}`));
        t.is(
          [...new Set(log.filter(({ left }) => !left).map((entry) => entry.id))],
          ids,
          "the records that are followed",
        );
      }
    }),
    check("[M30] It claims a field by its own name, and sees claims under it.", async (t) => {
      const { older, newer, name, id, record } = await renamed(t);
      const claim = t.answered(await older("POST", `${record}/claim`, { field: "title", clientId: "old" }), 201, {
        ...{ field: "title", target: { field: "title" } },
      });
      t.answered(await newer("GET", `/v1/claims/${claim.body.id}`), 200, { field: "heading" });
      t.answered(await older("GET", `/v1/claims/${claim.body.id}`), 200, { field: "title" });
      const target = { model: name, id, field: "order" };
      t.answered(await older("POST", "/v1/claims", { target, clientId: "old" }), 201, { field: "order" });
      const list = `/v1/claims?model=${name}&id=${id}`;
      t.is(fieldsOf((await newer("GET", list)).body.claims), ["heading", "place"], "the newer names");
      // A field that the older client does not have, under a name that it knows for another one.
      t.answered(await newer("POST", `${record}/claim`, { field: "title", clientId: "new" }), 201);
      t.is(fieldsOf((await older("GET", list)).body.claims), ["title", "order"], "the older names");
      t.is(fieldsOf((await older("GET", record)).body.claims).length, 2, "claims that come with the record");
    }),
    check("[M30] It is told of conflicts under its own names, and bases its writes on them.", async (t) => {
      const { older, newer, name, id, record } = await renamed(t);
      const readAt = Number((await older("GET", record)).body.syncId);
      t.answered(await newer("PATCH", record, { data: { heading: "Theirs" } }), 200);
      const stale = { data: { title: "Mine" }, readAt, onStale: "notify" };
      const told = { notifications: [{ conflictingFields: ["title"], currentValues: { title: "Theirs" } }] };
      const key = t.id();
      for (let i = 0; i < 2; i++) t.answered(await older("PATCH", record, stale, key), 200, told);
      t.answered(await older("GET", `/v1/commits/${key}`), 200, told);
      const commits = [{ clientTxId: t.id(), operations: [{ action: "update", model: name, id, ...stale }] }];
      t.answered(await older("POST", "/v1/commits/bulk", { commits }), 200, { data: [told] });
      const commit = (fields: readonly string[]) => {
        const operations = [{ action: "update", model: name, id, data: { note: "m" } }];
        return older("POST", "/v1/commits", { operations, reads: [{ model: name, id, readAt, fields }] });
      };
      t.refused(await commit(["title"]), "stale_context");
      t.answered(await commit(["order"]), 200, { status: "confirmed" });
    }),
    ...checkEach(
      WRONG,
      ([what]) => `[M30] It is told under its own names what is wrong with ${what}.`,
      async (t, [, request, json, code, param]) => {
        const { older, name, id } = await renamed(t);
        const filled = (said: string) => said.replaceAll("MODEL", name).replaceAll("RECORD", id);
        const [method = "", path = ""] = filled(request).split(" ");
        const answer = await older(method, path, json && JSON.parse(filled(JSON.stringify(json))));
        t.refused(answer, code, { param });
      },
    ),
    check("[M30] It is told under its own names which fields have to be unique.", async (t) => {
      const { name, path, push, client, versionOf } = await opened(t);
      const shape = (field: string) => ({ fields: { [field]: { ...text, unique: [field, "area"] }, area: text } });
      const older = client(versionOf(await push(shape("code"))));
      t.answered(await push(shape("key"), { renames: [{ model: name, from: "code", to: "key" }] }), 201);
      const data = { code: "x", area: "y" };
      t.answered(await older("POST", path, { id: t.id(), data }), 200);
      const twice = await older("POST", path, { id: t.id(), data });
      t.refused(twice, "not_unique", { param: "data.code", body: { fields: ["area", "code"] } });
    }),
    check(
      "[M30] After two fields have exchanged their names, a refused filter is named as the client calls it.",
      async (t) => {
        const { name, path, push, client, versionOf } = await opened(t);
        const older = client(versionOf(await push({ fields: { a: number, b: text } })));
        for (const [fields, from, to] of [
          [{ c: number, b: text }, "a", "c"],
          [{ c: number, a: text }, "b", "a"],
          [{ b: number, a: text }, "c", "b"],
        ] as const)
          t.answered(await push({ fields }, { renames: [{ model: name, from, to }] }), 201);
        t.refused(await older("GET", `${path}?a=zz`), "invalid_type", { param: "a", body: { message: /"a"/ } });
      },
    ),
    check(
      "[M30] Rows under other names have another rowsVersion, so that a newer client reads them again.",
      async (t) => {
        const { older, newer } = await renamed(t);
        const versions = async (ask: typeof older) => [
          (await ask("GET", "/v1/log?limit=1")).body.rowsVersion,
          JSON.parse(String((await ask("GET", "/v1/snapshot?limit=1")).text.split("\n")[0])).rowsVersion,
        ];
        const [own, current] = [await versions(older), await versions(newer)];
        t.is([own[0], current[0]], [own[1], current[1]], "the same in log and snapshot");
        t.that(own[0] !== current[0], "different versions", own);
      },
    ),
    ...checkEach(
      ["x", "0", "-1", "1.5", "0abc123;0abc123", "0abc123,", "é", "9".repeat(400)],
      (said) => `[M31] What is no schema is refused: ${said.slice(0, 20)}.`,
      async (t, said) => {
        const headers = { "holdfast-schema": Buffer.from(said).toString("latin1") };
        t.refused(await t.get("/v1/log?limit=1", { headers }), "invalid_value", { param: "Holdfast-Schema" });
      },
    ),
    check("[M33] A write that is sent again after the push is the same write, with each kind of key.", async (t) => {
      const ids = [t.id(), t.id(), t.id(), t.id()];
      const sent: string[] = [];
      const send = async ({ name: model, path, client }: Pick<Renamed, "name" | "path" | "client">) => {
        const create = (id: string | undefined) => ({ action: "create", model, id, data: { title: "One" } });
        const operations = [{ ...create(ids[1]), idempotencyKey: ids[1] }];
        const answers = [
          await client()("POST", path, { id: ids[0], data: { title: "One" } }, ids[0]),
          await client()("POST", "/v1/commits", { operations, clientTxId: ids[3], idempotencyKey: ids[3] }),
          await client()("POST", "/v1/commits/bulk", {
            commits: [{ clientTxId: ids[2], operations: [create(ids[2])] }],
          }),
        ];
        return { answers, operations };
      };
      const { older, ...rest } = await renamed(t, async (tenant) => {
        for (const answer of (await send(tenant)).answers) sent.push(t.answered(answer, 200).text);
      });
      const { answers, operations } = await send({ ...rest, client: () => older });
      t.is(
        answers.map((answer) => t.answered(answer, 200).text),
        sent,
        "the receipts",
      );
      // The operation's own key is known too, so that it is not done again.
      t.answered(await older("POST", "/v1/commits", { operations, idempotencyKey: t.id() }), 200);
      t.is(entriesOf(await older("GET", `${rest.path}/${ids[1]}/history`)).length, 1, "entries of that record");
    }),
  ],
};
