import { beforeAll, describe, expect, test } from "vitest";
import { type App, referenceSchema, startApp } from "../../../testing/app.ts";

let app: App;
beforeAll(async () => {
  app = await startApp();
});

const text = { type: "string", nullable: true } as const;
const MODELS = {
  project: { fields: { name: text } },
  page: {
    fields: { projectId: text, slug: { ...text, unique: ["projectId", "slug"] }, title: text },
    groups: [{ kind: "project", from: "projectId" }],
  },
  account: { fields: { email: { ...text, unique: true }, name: text } },
  issue: {
    fields: {
      title: text,
      projectId: { ...text, references: "project", onDelete: "cascade" },
      labelId: { ...text, references: "label", onDelete: "setNull" },
      labels: { type: "array", items: "string", references: "label", onDelete: "setNull" },
      ownerId: { ...text, references: "account", onDelete: "restrict" },
      seenBy: { ...text, references: "account", onDelete: "nothing" },
      parentId: { ...text, references: "issue", onDelete: "cascade" },
    },
  },
  label: { fields: { name: text } },
} as const;

const push = (models: unknown = MODELS, token = app.keys.live, rest: object = {}) =>
  app.call("POST", "/v1/schema", {
    token,
    json: { models: { ...referenceSchema.models, ...(models as object) }, force: true, ...rest },
  });

beforeAll(async () => {
  expect((await push()).status).toBe(201);
  expect((await push(MODELS, app.keys.other)).status).toBe(201);
});

const commit = (operations: readonly object[], token = app.keys.live) =>
  app.call("POST", "/v1/commits", { token, json: { operations } });
const create = (model: string, id: string, data: object, token?: string) =>
  commit([{ action: "create", model, id, data }], token);
const ops = {
  create: (model: string, id: string, data: object) => ({ action: "create", model, id, data }),
  update: (model: string, id: string, data: object) => ({ action: "update", model, id, data }),
  remove: (model: string, id: string) => ({ action: "delete", model, id }),
};
const codeOf = ({ status, body }: { status: number; body: Readonly<Record<string, unknown>> }) => body.code ?? status;
const read = async (model: string, id: string) => {
  const { status, body } = await app.call("GET", `/v1/models/${model}/${id}`);
  return status === 404 ? undefined : (body.data as Record<string, unknown>);
};

describe("unique fields", () => {
  test("[M24] deleted and erased records leave no values behind", async () => {
    await commit([ops.create("account", "b1", { email: "b@x.io" }), ops.remove("account", "b1")]);
    await create("account", "b2", { email: "b@x.io" });
    await app.call("DELETE", "/v1/models/account/b2?erase=true");
    const kept = await app.sql("select id from holdfast.record_value where model = 'account' and id in ('b1', 'b2')");
    expect(kept).toEqual([]);
    expect(codeOf(await create("account", "b3", { email: "b@x.io" }))).toBe(200);
  });

  test("[M25] of concurrent writes through several servers, one gets a value", async () => {
    const { call } = await app.another();
    for (let round = 0; round < 5; round++) {
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, i) =>
          (i % 2 === 0 ? app.call : call)("POST", "/v1/commits", {
            json: { operations: [ops.create("account", `e${round}_${i}`, { email: `e${round}@x.io` })] },
          }),
        ),
      );
      expect(answers.map(codeOf).sort()).toEqual([200, ...Array.from({ length: 11 }, () => "not_unique")]);
    }
  });

  test("[M24] the values of other tenants do not count", async () => {
    expect(codeOf(await create("account", "f1", { email: "f@x.io" }))).toBe(200);
    expect(codeOf(await create("account", "f2", { email: "f@x.io" }, app.keys.other))).toBe(200);
  });

  test("[M26] a refused push names the records; a field that is not unique any more keeps no values", async () => {
    await commit([ops.create("label", "l1", { name: "N" }), ops.create("label", "l2", { name: "N" })]);
    const unique = { ...MODELS, label: { fields: { name: { ...text, unique: true } } } };
    expect((await push(unique)).body).toMatchObject({
      problems: [{ model: "label", field: "name", problem: "2 records have the same name: l1, l2." }],
    });
    await commit([ops.update("label", "l2", { name: "M" })]);
    expect((await push(unique)).status).toBe(201);
    expect((await push()).status).toBe(201);
    expect(codeOf(await commit([ops.update("label", "l2", { name: "N" })]))).toBe(200);
    expect(await app.sql("select from holdfast.record_value where model = 'label'")).toEqual([]);
    await commit([ops.remove("label", "l1"), ops.remove("label", "l2")]);
  });

  test("[M26] no record that is written during a push escapes it", async () => {
    const unique = { ...MODELS, label: { fields: { name: { ...text, unique: true } } } };
    for (let round = 0; round < 5; round++) {
      const [pushed] = await Promise.all([
        push(unique),
        ...Array.from({ length: 10 }, (_, i) => create("label", `m${round}_${i}`, { name: "same" })),
      ]);
      const made = (await app.sql("select id from holdfast.record where model = 'label' and data ->> 'name' = 'same'"))
        .length;
      if (pushed.status === 201) expect(made).toBeLessThanOrEqual(1);
      else expect(made).toBeGreaterThan(1);
      await push();
      await commit(Array.from({ length: 10 }, (_, i) => ops.remove("label", `m${round}_${i}`)));
    }
  });

  test("[M26] a renamed field keeps its records apart", async () => {
    await create("account", "n1", { email: "n@x.io" });
    const { email, ...rest } = MODELS.account.fields;
    const renamed = { ...MODELS, account: { fields: { ...rest, mail: email } } };
    const pushed = await push(renamed, app.keys.live, { renames: [{ model: "account", from: "email", to: "mail" }] });
    expect(pushed.status).toBe(201);
    expect(codeOf(await create("account", "n2", { mail: "n@x.io" }))).toBe("not_unique");
    await push(MODELS, app.keys.live, { renames: [{ model: "account", from: "mail", to: "email" }] });
    expect(codeOf(await create("account", "n2", { email: "n@x.io" }))).toBe("not_unique");
  });
});

describe("checked references", () => {
  test("[M28] [M49] up to 1 000 records change with a delete; more is 409 too_many_dependents", async () => {
    await create("project", "z", {});
    for (let from = 0; from < 1_000; from += 100)
      await commit(Array.from({ length: 100 }, (_, i) => ops.create("issue", `z${from + i}`, { projectId: "z" })));
    await create("issue", "one_more", { projectId: "z" });
    const { status, body } = await commit([ops.remove("project", "z")]);
    expect([status, body.code]).toEqual([409, "too_many_dependents"]);
    await commit([ops.remove("issue", "one_more")]);
    expect(codeOf(await commit([ops.remove("project", "z")]))).toBe(200);
    expect(await app.sql("select from holdfast.record where model = 'issue' and id like 'z%'")).toEqual([]);
  });

  test("[M36] a chain of 900 records is deleted by its first one, whatever its round has changed of it", async () => {
    const chain = Array.from({ length: 900 }, (_, i) =>
      ops.create("issue", `chain${i}`, { parentId: i === 0 ? null : `chain${i - 1}` }),
    );
    for (let i = 0; i < chain.length; i += 100) expect(codeOf(await commit(chain.slice(i, i + 100)))).toBe(200);
    const commits = [
      { clientTxId: "chain_cut", operations: [ops.update("issue", "chain500", { parentId: null })] },
      { clientTxId: "chain_end", operations: [ops.remove("issue", "chain0")] },
    ];
    const { body } = await app.call("POST", "/v1/commits/bulk", { json: { commits } });
    expect((body.data as { httpStatus: number }[]).map(({ httpStatus }) => httpStatus)).toEqual([200, 200]);
    expect(await read("issue", "chain499")).toBeUndefined();
    expect(await read("issue", "chain500")).toBeDefined();
    const { body: last } = await commit([ops.remove("issue", "chain500")]);
    expect(last.lastSyncId).toBeGreaterThan(400);
    expect(await read("issue", "chain899")).toBeUndefined();
  });

  test("[M27] a record that is created and one that deletes what it names do not miss each other", async () => {
    const { call } = await app.another();
    for (let round = 0; round < 8; round++) {
      await create("project", `y${round}`, {});
      const [, removed] = await Promise.all([
        call("POST", "/v1/commits", {
          json: { operations: [ops.create("issue", `y${round}`, { projectId: `y${round}` })] },
        }),
        commit([ops.remove("project", `y${round}`)]),
      ]);
      expect(codeOf(removed)).toBe(200);
      expect(await read("issue", `y${round}`)).toBeUndefined();
    }
  });

  test("[M28] a push that adds onDelete finds the references that are there", async () => {
    const plain = {
      ...MODELS,
      issue: { fields: { ...MODELS.issue.fields, labels: { type: "array", items: "string", references: "label" } } },
    };
    await push(plain);
    await commit([ops.create("label", "x1", {}), ops.create("issue", "x2", { labels: ["x1", "gone"] })]);
    await push();
    expect(codeOf(await commit([ops.remove("label", "x1")]))).toBe(200);
    expect(await read("issue", "x2")).toMatchObject({ labels: ["gone"] });
  });
});

test.each([
  [{ a: { type: "json", unique: true } }, "arrays and json"],
  [{ a: { type: "string", unique: ["b"] }, b: { type: "string" } }, 'must name "a"'],
  [{ a: { type: "string", unique: ["a", "c"] } }, "not a field"],
  [{ a: { type: "string", unique: true, default: "x" } }, "default"],
  [{ a: { type: "string", onDelete: "restrict" } }, '"references"'],
  [{ a: { type: "string", references: "label", onDelete: "setNull" } }, "nullable"],
  [{ a: { type: "array", items: "string", references: "label", onDelete: "cascade" } }, "cascade"],
  [{ a: { type: "array", references: "label", onDelete: "setNull" } }, '"items": "string"'],
])("[M24] [M27] %j cannot be declared: %s", async (fields, said) => {
  const { status, body } = await push({ ...MODELS, odd: { fields } });
  expect([status, body.code, body.param]).toEqual([400, "invalid_schema", "models.odd.fields.a"]);
  expect(body.message).toContain(said);
});
