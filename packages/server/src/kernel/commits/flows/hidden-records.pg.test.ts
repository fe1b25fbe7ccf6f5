import { beforeAll, expect, test } from "vitest";
import { type App, referenceSchema, startApp } from "../../../testing/app.ts";

// What a refusal may say of records that the writer cannot read: nothing but that something is in the way.

const text = { type: "string", nullable: true } as const;
const groups = [{ kind: "team", from: "teamId" }];
const MODELS = {
  project: { fields: { teamId: text, name: { ...text, unique: true } }, groups },
  issue: {
    fields: {
      teamId: text,
      title: text,
      projectId: { ...text, references: "project", onDelete: "cascade" },
      lastId: { ...text, references: "project", onDelete: "setNull" },
      firmId: { ...text, references: "project", onDelete: "restrict" },
    },
    groups,
  },
};
/** All that the other group has, and how many there are: none of it may be in an answer. */
const HIDDEN = /hidden|holder|"issue"|137|secret/i;

let app: App;
let own: string;
let holder: string;
beforeAll(async () => {
  app = await startApp();
  const models = { ...referenceSchema.models, ...MODELS };
  expect((await app.call("POST", "/v1/schema", { json: { models, force: true } })).status).toBe(201);
  const tokenOf = async (participantId: string, syncGroups: string[]) =>
    (await app.capability({ participantId, operations: ["project.*", "project.erase", "issue.*"], syncGroups })).token;
  own = await tokenOf("own", ["team:a"]);
  holder = await tokenOf("holder", ["team:b"]);
});

const seed = async (operations: readonly object[]) => {
  const { status } = await app.call("POST", "/v1/commits", { json: { operations } });
  expect(status).toBe(200);
};
const create = (model: string, id: string, data: object) => ({ action: "create", model, id, data });
const project = (id: string) => create("project", id, { teamId: "a" });
const remove = (id: string) => ({ action: "delete", model: "project", id });

let sent = 0;
type Operation = ReturnType<typeof remove> | ReturnType<typeof create>;
/** Each way to send one operation; the answer is that of the commit. */
const WAYS: readonly [string, (operation: Operation) => Promise<Record<string, unknown>>][] = [
  [
    "a commit",
    async (operation) =>
      (await app.call("POST", "/v1/commits", { token: own, json: { operations: [operation] } })).body,
  ],
  [
    "a bulk",
    async (operation) => {
      const commits = [{ clientTxId: `b_${sent++}`, operations: [operation] }];
      const { body } = await app.call("POST", "/v1/commits/bulk", { token: own, json: { commits } });
      const [item] = body.data as { error?: Record<string, unknown> }[];
      return item?.error ?? (item as Record<string, unknown>);
    },
  ],
  [
    "the record's own route",
    async ({ action, model, id, ...rest }) =>
      action === "delete"
        ? (await app.call("DELETE", `/v1/models/${model}/${id}`, { token: own })).body
        : (await app.call("POST", `/v1/models/${model}`, { token: own, json: { id, ...rest } })).body,
  ],
  [
    "an erasure",
    async ({ model, id }) => (await app.call("DELETE", `/v1/models/${model}/${id}?erase=true`, { token: own })).body,
  ],
];

const tellsNothing = (answer: Record<string, unknown>, code: string) => {
  expect(answer.code).toBe(code);
  const { request_id: _, requestId: __, doc_url: ___, ...told } = answer;
  expect(JSON.stringify(told)).not.toMatch(HIDDEN);
};

for (const [way, send] of WAYS) {
  const name = way.replaceAll(/\W/g, "");

  test(`[C23] a claim on a record of another group that would change too is not shown, by ${way}`, async () => {
    for (const [field, id] of [
      ["projectId", `claim_${name}`],
      ["lastId", `claim_null_${name}`],
    ] as const) {
      await seed([project(id), create("issue", `hidden_${id}`, { teamId: "b", [field]: id, title: "secret" })]);
      const json = { description: "secret words", meta: { secret: 1 } };
      const claim = await app.call("POST", `/v1/models/issue/hidden_${id}/claim`, { token: holder, json });
      expect(claim.status).toBe(201);
      tellsNothing(await send(remove(id)), "claim_conflict");
    }
  });

  test(`[C23] records of another group that are in the way are neither named nor counted, by ${way}`, async () => {
    const id = `firm_${name}`;
    const many = Array.from({ length: 37 }, (_, i) =>
      create("issue", `hidden_${name}_${i}`, { teamId: "b", firmId: id }),
    );
    await seed([project(id), ...many]);
    tellsNothing(await send(remove(id)), "still_referenced");
    await seed([create("issue", `seen_${name}`, { teamId: "a", firmId: id })]);
    const partly = await send(remove(id));
    expect(partly.records).toEqual([{ model: "issue", id: `seen_${name}` }]);
    expect(partly.message).toBe("1 record, and others that the token cannot read, reference the records to delete.");
  });

  if (way === "an erasure") continue;
  test(`[C23] the record that has a unique value is not named, by ${way}`, async () => {
    await seed([create("project", `hidden_${name}`, { teamId: "b", name: `n_${name}` })]);
    tellsNothing(await send(create("project", `mine_${name}`, { teamId: "a", name: `n_${name}` })), "not_unique");
  });

  test(`[C23] what a reader of both groups may see is named, by ${way}`, async () => {
    const id = `both_${name}`;
    await seed([project(id), create("issue", `near_${name}`, { teamId: "a", projectId: id })]);
    const token = (await app.capability({ participantId: "near", operations: ["issue.*"], syncGroups: ["team:a"] }))
      .token;
    await app.call("POST", `/v1/models/issue/near_${name}/claim`, { token, json: { description: "mine" } });
    const answer = await send(remove(id));
    expect(answer).toMatchObject({
      code: "claim_conflict",
      claims: [{ actor: "near", description: "mine", target: { id: `near_${name}` } }],
    });
  });
}

test("[C23] [C33] a held receipt is not repeated to another token of the participant that may not read the record", async () => {
  const wide = (
    await app.capability({ participantId: "own", operations: ["project.*"], syncGroups: ["team:a", "team:b"] })
  ).token;
  await seed([create("project", "hidden_twin", { teamId: "b", name: "before" })]);
  const { body: log } = await app.call("GET", "/v1/log?model=project");
  const readAt = (log.data as { syncId: number }[]).at(-1)?.syncId ?? 0;
  const update = (name: string) => ({ action: "update", model: "project", id: "hidden_twin", data: { name } });
  await seed([update("secret")]);
  const json = { operations: [{ ...update("mine"), readAt, onStale: "notify" }] };
  const first = await app.call("POST", "/v1/commits", { token: wide, key: "twin", json });
  expect(first.body).toMatchObject({ notifications: [{ currentValues: { name: "secret" } }] });
  expect((await app.call("POST", "/v1/commits", { token: wide, key: "twin", json })).body).toEqual(first.body);
  tellsNothing(
    (await app.call("POST", "/v1/commits", { token: own, key: "twin", json })).body,
    "capability_scope_denied",
  );
  expect((await app.call("GET", "/v1/commits/twin", { token: wide })).body).toEqual(first.body);
  tellsNothing((await app.call("GET", "/v1/commits/twin", { token: own })).body, "capability_scope_denied");
  await seed([{ action: "delete", model: "project", id: "hidden_twin" }]);
  tellsNothing((await app.call("GET", "/v1/commits/twin", { token: own })).body, "capability_scope_denied");
});

test("[C23] [C33] a conflict about a group is not read by another token of the participant that lacks the group", async () => {
  const wide = (
    await app.capability({ participantId: "own", operations: ["project.*"], syncGroups: ["team:a", "team:b"] })
  ).token;
  const { body: log } = await app.call("GET", "/v1/log");
  const readAt = (log.data as { syncId: number }[]).at(-1)?.syncId ?? 0;
  await seed([create("project", "hidden_news", { teamId: "b" })]);
  const json = {
    operations: [create("project", "of_a", { teamId: "a" })],
    reads: [{ group: "team:b", readAt, onStale: "notify" }],
  };
  const first = await app.call("POST", "/v1/commits", { token: wide, key: "of-group", json });
  expect(first.body).toMatchObject({ notifications: [{ group: "team:b", id: "hidden_news" }] });
  expect((await app.call("GET", "/v1/commits/of-group", { token: wide })).body).toEqual(first.body);
  tellsNothing((await app.call("GET", "/v1/commits/of-group", { token: own })).body, "capability_scope_denied");
});

test("[C23] a premise about a group tells of a record only if the writer may read its model", async () => {
  const { token } = await app.capability({ participantId: "p", operations: ["project.*"], syncGroups: ["team:a"] });
  const { body } = await app.call("GET", "/v1/log", { token });
  const readAt = (body.data as { syncId: number }[]).at(-1)?.syncId ?? 0;
  await seed([create("issue", "hidden_premise", { teamId: "a" })]);
  const answer = await app.call("POST", "/v1/commits", {
    token,
    json: { operations: [create("project", "premise", { teamId: "a" })], reads: [{ group: "team:a", readAt }] },
  });
  expect(JSON.stringify(answer.body)).not.toMatch(HIDDEN);
});
