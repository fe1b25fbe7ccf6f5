import { type EndpointName, endpoints, limits, paths } from "@holdfast/sdk/protocol";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { until } from "../../../../../scripts/testing/until.ts";
import { anotherDatabase } from "../../testing/another-database.ts";
import { ADMIN, type Answer, type Asking, referenceSchema, startApp } from "../../testing/app.ts";

type Plain = Record<string, unknown>;

const app = await startApp({ datasourcesAllowPrivate: true });
const { call, keys } = app;
const described = async (token: string | null): Promise<Plain> =>
  (await call("GET", "/openapi.json", { token })).body as Plain;
const generic = await described(null);

/**
 * Returns a function that checks a response against the OpenAPI document, and throws if the document does not describe
 * it.
 */
function responseChecker(document: Plain) {
  const ajv = new Ajv2020({ strict: false, allErrors: false, ownProperties: true, validateFormats: false });
  ajv.addSchema(document, "doc");
  return ([method, template]: readonly [string, string], { status, headers, text, body }: Answer): Answer => {
    const at = `/paths/${template.replaceAll("~", "~0").replaceAll("/", "~1")}/${method.toLowerCase()}`;
    const operation = (document.paths as Record<string, Record<string, Plain>>)[template]?.[method.toLowerCase()];
    if (!operation) throw new Error(`${method} ${template} is not described`);
    const said = (operation.responses as Record<string, { $ref?: string; content?: Plain; headers?: Plain }>)[status];
    if (!said) throw new Error(`${method} ${template} is not said to answer ${status}: ${text.slice(0, 300)}`);
    const pointer = said.$ref?.slice(1) ?? `${at}/responses/${status}`;
    const whole = pointer.split("/").slice(1).reduce<unknown>(inside, document) as {
      content: Plain;
      headers: Plain;
      description: string;
    };
    const type = String(headers["content-type"]).split(";")[0] ?? "";
    if (!(type in whole.content)) throw new Error(`${method} ${template} is not said to answer with ${type}`);
    const known = new Set(Object.keys(whole.headers));
    for (const name of ["x-request-id", "idempotent-replayed", "holdfast-held", "retry-after", "www-authenticate"])
      if (headers[name] !== undefined && !known.has(name)) throw new Error(`${method} ${template}: header ${name}`);
    const check = ajv.compile({
      $ref: `doc#${encodeURI(pointer)}/content/${type.replaceAll("/", "~1")}/schema`,
    });
    if (!check(type === "application/json" ? body : text))
      throw new Error(`${method} ${template} ${status}: ${JSON.stringify(check.errors)} in ${text.slice(0, 500)}`);
    if (status >= 400 && !whole.description.includes(`- [\`${body.code}\`]`))
      throw new Error(`${method} ${template} is not said to answer ${status} ${body.code}`);
    return { status, headers, text, body };
  };
}

/** `/a~1b/c` → the value there. */
const inside = (value: unknown, key: string): unknown =>
  (value as Plain)[key.replaceAll("~1", "/").replaceAll("~0", "~")];

const templateOf = (name: EndpointName): readonly [string, string] => [
  paths[name][0],
  paths[name][1].replace(/:([A-Za-z]+)/g, "{$1}"),
];

const check = responseChecker(generic);
const ask = async (name: EndpointName, path: string, asking: Asking = {}) =>
  check(templateOf(name), await call(paths[name][0], path, asking));

const SLIDES = "/v1/models/slide";
const operator: Asking = { token: ADMIN };
const organization = String(
  (await ask("createOrganization", "/v1/organizations", { ...operator, json: { name: "a" } })).body.id,
);

/** Requests with the answer that they get: every endpoint, and the ways in which it may go wrong. */
const requests: readonly [EndpointName, string, Asking, number][] = [
  ["createRecord", SLIDES, { json: { id: "o1", data: { title: "a", deckId: "d" } }, key: "k1" }, 200],
  ["createRecord", SLIDES, { json: { id: "o1", data: { title: "a", deckId: "d" } }, key: "k1" }, 200],
  ["createRecord", SLIDES, { json: { id: "o1", data: { title: "other" } }, key: "k1" }, 409],
  ["createRecord", SLIDES, { json: { id: "o1", data: { title: "other" } } }, 409],
  ["createRecord", SLIDES, { json: { id: "o2", data: { colour: 1 } } }, 400],
  ["createRecord", SLIDES, { json: { id: "o2", data: { id: "o3" } } }, 400],
  ["createRecord", SLIDES, { json: { id: "o2", data: { deckId: "a b" } } }, 400],
  ["createRecord", SLIDES, { json: { id: "o2", data: {}, intent: null, onStale: "force", readAt: null } }, 200],
  ["createRecord", SLIDES, { bytes: `"${"x".repeat(limits.bodyBytes)}"` }, 413],
  ["createRecord", SLIDES, { bytes: "{}", headers: { "content-type": "text/plain" } }, 415],
  ["createRecord", "/v1/models/nothing", { json: { id: "o2", data: {} } }, 404],
  ["createRecord", SLIDES, { token: null, json: {} }, 401],
  ["createRecord", SLIDES, { json: {}, headers: { "x-long": "x".repeat(17_000) } }, 431],
  ["createRecord", "/v1/models/favorite", { json: { data: {} } }, 200],
  ["updateRecord", `${SLIDES}/o1`, { json: { data: { title: "b" } } }, 200],
  ["updateRecord", `${SLIDES}/o1`, { json: { data: { title: "c" }, readAt: 1 } }, 409],
  ["updateRecord", `${SLIDES}/o1`, { json: { data: { title: "c" }, readAt: 1, onStale: "flag" } }, 200],
  ["updateRecord", `${SLIDES}/o1`, { json: { data: {} } }, 400],
  ["updateRecord", `${SLIDES}/o1`, { json: { id: "o2", data: {} } }, 400],
  ["updateRecord", `${SLIDES}/o1`, { json: { data: { deckId: "a b" } } }, 400],
  ["updateRecord", `${SLIDES}/gone`, { json: { data: { title: "c" } } }, 200],
  ["readRecord", `${SLIDES}/o1`, {}, 200],
  ["readRecord", `${SLIDES}/gone`, {}, 404],
  ["readRecord", `${SLIDES}/a%20b`, {}, 400],
  ["readRecord", `${SLIDES}/o1?x=1`, {}, 400],
  ["archiveRecord", `${SLIDES}/o1/archive`, {}, 200],
  ["listRecords", `${SLIDES}?state=all`, {}, 200],
  ["listRecords", `${SLIDES}?limit=0`, {}, 400],
  ["listRecords", `${SLIDES}?ending_before=x`, {}, 400],
  ["listRecords", "/v1/models/nothing", {}, 404],
  ["listRecords", `${SLIDES}?filter[order][gte]=0&title=x`, {}, 200],
  ["listRecords", `${SLIDES}?filter[order]=x`, {}, 400],
  ["listRecords", `${SLIDES}?order_by=order:desc,title`, {}, 200],
  ["queryRecords", `${SLIDES}/query`, { json: { where: { order: { gte: 0 } }, orderBy: "title" } }, 200],
  ["queryRecords", `${SLIDES}/query`, { json: { where: { order: "x" } } }, 400],
  ["queryRecords", `${SLIDES}/query`, { json: { limit: 0 } }, 400],
  ["queryRecords", `${SLIDES}/query`, { json: { count: true, countBy: "order", limit: 0 } }, 200],
  ["queryRecords", `${SLIDES}/query`, { json: { countBy: "colour" } }, 400],
  ["queryRecords", `${SLIDES}/query`, { json: { starting_after: "x" } }, 400],
  ["queryRecords", `${SLIDES}/query`, { json: { ending_before: "x" } }, 400],
  ["queryRecords", "/v1/models/nothing/query", { json: {} }, 404],
  ["readHistory", `${SLIDES}/o1/history?limit=1&order=desc`, {}, 200],
  ["readHistory", `${SLIDES}/o1/history?starting_after=x`, {}, 400],
  ["readHistory", `${SLIDES}/never/history`, {}, 404],
  ["unarchiveRecord", `${SLIDES}/o1/unarchive`, { json: { readAt: 0 } }, 409],
  ["unarchiveRecord", `${SLIDES}/o1/unarchive`, {}, 200],
  ["deleteRecord", `${SLIDES}/o2`, { json: { claim: "claim_1" } }, 409],
  ["deleteRecord", `${SLIDES}/o2`, {}, 200],
  ["commit", "/v1/commits", { json: { operations: [{ action: "delete", model: "slide", id: "o9" }] } }, 200],
  ["commit", "/v1/commits", { json: { operations: [] } }, 400],
  ["commit", "/v1/commits", { json: { operations: [{ action: "delete", model: "nothing", id: "o9" }] } }, 400],
  [
    "commit",
    "/v1/commits",
    { json: { operations: [{ action: "update", model: "slide", id: "o1", data: { title: "z" }, readAt: 1 }] } },
    409,
  ],
  [
    "commitBulk",
    "/v1/commits/bulk",
    {
      json: {
        commits: [
          { clientTxId: "b1", operations: [{ action: "create", model: "slide", id: "o3", data: {} }] },
          { clientTxId: "b2", operations: [{ action: "create", model: "slide", id: "o3", data: { title: "x" } }] },
          { clientTxId: "b3", operations: [{ action: "update", model: "slide", id: "o3", data: { title: "x" } }] },
        ],
      },
    },
    200,
  ],
  ["commitBulk", "/v1/commits/bulk", { json: { commits: [] } }, 400],
  ["readCommit", "/v1/commits/b1", {}, 200],
  ["readCommit", "/v1/commits/b1?participant=x", {}, 400],
  ["readCommit", "/v1/commits/never", {}, 404],
  ["readLog", "/v1/log?limit=2", {}, 200],
  ["readLog", "/v1/log?after=999999", {}, 400],
  ["readSnapshot", "/v1/snapshot?model=slide", {}, 200],
  ["readSnapshot", "/v1/snapshot?model=nothing", {}, 400],
  ["readSchema", "/v1/schema", {}, 200],
  ["acquireClaim", `${SLIDES}/o1/claim`, {}, 201],
  ["acquireClaim", `${SLIDES}/o1/claim`, { json: { ttl: "5m", meta: null } }, 200],
  ["acquireClaim", `${SLIDES}/o1/claim`, { json: { ttl: "5y" } }, 400],
  ["acquireClaim", `${SLIDES}/o1/claim`, { json: { field: "colour" } }, 400],
  ["acquireClaim", `${SLIDES}/gone/claim`, {}, 404],
  ["acquireClaimOn", "/v1/claims", { json: { target: { model: "slide", id: "o1", field: "title" } } }, 201],
  ["acquireClaimOn", "/v1/claims", { json: { target: { model: "nothing", id: "o1" } } }, 400],
  ["acquireClaimOn", "/v1/claims", { json: { target: { model: "slide", id: "gone" } } }, 404],
  ["listClaims", "/v1/claims?model=slide&id=o1", {}, 200],
  ["listClaims", "/v1/claims?model=slide", {}, 400],
  ["listOwnClaims", "/v1/claims/mine?limit=1", {}, 200],
  ["listOwnClaims", "/v1/claims/mine?starting_after=a/b", {}, 400],
  ["readClaim", "/v1/claims/claim_x", {}, 404],
  ["renewClaim", "/v1/claims/claim_x/renew", { json: { ttl: 0 } }, 400],
  ["renewClaim", "/v1/claims/claim_x/renew", {}, 404],
  ["releaseClaim", "/v1/claims/claim_x", {}, 404],
  ["reorderClaims", `${SLIDES}/o1/claim/reorder`, { json: { order: [] } }, 200],
  ["reorderClaims", `${SLIDES}/o1/claim/reorder`, { json: { order: ["claim_x"] } }, 404],
  ["releaseRecord", `${SLIDES}/o1/claim`, {}, 200],
  ["pushSchema", "/v1/schema", { json: { models: referenceSchema.models } }, 200],
  ["pushSchema", "/v1/schema", { json: { models: { slide: { fields: { title: { type: "number" } } } } } }, 409],
  ["pushSchema", "/v1/schema", { json: { models: {} } }, 400],
  [
    "pushSchema",
    "/v1/schema",
    { json: { models: referenceSchema.models, renames: [{ model: "slide", from: "a", to: "b" }] } },
    200,
  ],
  ["createCapability", "/v1/capabilities", { json: { wideScope: true, userMeta: { a: 1 }, label: "x" } }, 201],
  ["createCapability", "/v1/capabilities", { json: {} }, 400],
  ["createCapability", "/v1/capabilities", { json: { wideScope: true, participantKind: "user" } }, 400],
  ["listCapabilities", "/v1/capabilities?limit=1", {}, 200],
  ["listCapabilities", "/v1/capabilities?starting_after=x", {}, 400],
  ["listCapabilities", "/v1/capabilities", { headers: { "idempotency-key": ["a", "b"] } }, 400],
  ["readCapability", "/v1/capabilities/cap_none", {}, 404],
  ["rotateCapability", "/v1/capabilities/cap_none/rotate", {}, 404],
  ["revokeCapability", "/v1/capabilities/cap_none", {}, 404],
  ["revokeCapability", "/v1/capabilities/cap_none", { json: { label: "x" } }, 400],
  ["revokeCapability", "/v1/capabilities/cap_none", { bytes: "{" }, 400],
  ["revokeCapability", "/v1/capabilities/cap_none", { bytes: Buffer.from([0xff]) }, 400],
  ["revokeCapability", "/v1/capabilities/cap_none", { json: ["\0"] }, 400],
  ["revokeCapability", "/v1/capabilities/cap_none", { bytes: "{}", headers: { "content-type": "text/plain" } }, 415],
  ["revokeCapability", "/v1/capabilities/cap_none", { bytes: `"${"x".repeat(limits.bodyBytes)}"` }, 413],
  ["createEphemeralKey", "/v1/ephemeral_keys", { json: { user: { id: "ada" } } }, 201],
  ["createEphemeralKey", "/v1/ephemeral_keys", { json: { user: { id: "ada" }, syncGroups: ["org:x"] } }, 400],
  ["listEphemeralKeys", "/v1/ephemeral_keys?user=ada", {}, 200],
  ["revokeEphemeralKey", "/v1/ephemeral_keys/eph_none", {}, 404],
  ["revokeEphemeralKeys", "/v1/ephemeral_keys?user=ada", {}, 200],
  ["revokeEphemeralKeys", "/v1/ephemeral_keys", {}, 400],
  ["readIdentity", "/v1/identity", {}, 200],
  ["listDatasources", "/v1/datasources", {}, 200],
  ["listDatasources", "/v1/datasources?limit=1", {}, 400],
  ["createWebhookEndpoint", "/v1/webhook_endpoints", { json: { url: "https://hooks.invalid/hooks" } }, 201],
  ["createWebhookEndpoint", "/v1/webhook_endpoints", { json: { url: "http://example.com" } }, 400],
  ["createWebhookEndpoint", "/v1/webhook_endpoints", { json: { url: "https://127.0.0.1" } }, 400],
  ["listWebhookEndpoints", "/v1/webhook_endpoints", {}, 200],
  ["listWebhookEndpoints", "/v1/webhook_endpoints?limit=1", {}, 400],
  ["readWebhookEndpoint", "/v1/webhook_endpoints/we_none", {}, 404],
  ["updateWebhookEndpoint", "/v1/webhook_endpoints/we_none", { json: {} }, 404],
  ["updateWebhookEndpoint", "/v1/webhook_endpoints/we_none", { json: { enabledEvents: [] } }, 400],
  ["deleteWebhookEndpoint", "/v1/webhook_endpoints/we_none", {}, 404],
  ["rollWebhookSecret", "/v1/webhook_endpoints/we_none/roll_secret", {}, 404],
  ["enableWebhookEndpoint", "/v1/webhook_endpoints/we_none/enable", {}, 404],
  ["disableWebhookEndpoint", "/v1/webhook_endpoints/we_none/disable", {}, 404],
  ["testWebhookEndpoint", "/v1/webhook_endpoints/we_none/test", {}, 404],
  ["skipWebhookEvents", "/v1/webhook_endpoints/we_none/skip", { json: { to: 1 } }, 404],
  ["skipWebhookEvents", "/v1/webhook_endpoints/we_none/skip", {}, 400],
  ["listWebhookAttempts", "/v1/webhook_endpoints/we_none/attempts", {}, 404],
  ["createDatasource", "/v1/datasources", { json: { connection: "direct", connectionString: "x" } }, 400],
  ["createDatasource", "/v1/datasources", { json: { connection: "endpoint" } }, 400],
  ["readDatasource", "/v1/datasources/ds_hosted", {}, 200],
  ["readDatasource", "/v1/datasources/ds_none", {}, 404],
  ["deleteDatasource", "/v1/datasources/ds_test_hosted", {}, 409],
  ["deleteDatasource", "/v1/datasources/ds_none", {}, 404],
  ["rotateDatasourceKey", "/v1/datasources/ds_none/rotate_key", { json: { connectionString: "x" } }, 404],
  ["rotateDatasourceKey", "/v1/datasources/ds_hosted/rotate_key", {}, 400],
  ["createRecord", SLIDES, { json: { id: "asked", data: {}, propose: true } }, 200],
  ["listProposals", "/v1/proposals?status=all&limit=1", {}, 200],
  ["listProposals", "/v1/proposals?status=x", {}, 400],
  ["readProposal", "/v1/proposals/prop_none", {}, 404],
  ["acceptProposal", "/v1/proposals/prop_none/accept", {}, 404],
  ["rejectProposal", "/v1/proposals/prop_none/reject", { json: { reason: "x" } }, 404],
  ["withdrawProposal", "/v1/proposals/prop_none/withdraw", {}, 404],
  ["revertChanges", "/v1/revert", { json: { run: "none" } }, 200],
  ["revertChanges", "/v1/revert", { json: {} }, 400],
  ["readUsage", "/v1/usage?starting_at=2020-01-01", {}, 200],
  ["readUsage", "/v1/usage?starting_at=x", {}, 400],
  ["createOrganization", "/v1/organizations", { json: { name: "b" } }, 403],
  ["createOrganization", "/v1/organizations", { ...operator, json: { name: "" } }, 400],
  ["listOrganizations", "/v1/organizations", operator, 200],
  ["createSecretKey", "/v1/secret_keys", { ...operator, json: { organization, livemode: false } }, 201],
  ["createSecretKey", "/v1/secret_keys", { ...operator, json: { organization: "org_x", livemode: true } }, 404],
  ["listSecretKeys", `/v1/secret_keys?organization=${organization}`, operator, 200],
  ["revokeSecretKey", "/v1/secret_keys/key_x", operator, 404],
];

test("[E6] every endpoint answers as it is described, also when it refuses", async () => {
  for (const [name, path, asking, status] of requests) {
    const answer = await ask(name, path, asking);
    expect([name, path, answer.status, answer.text]).toEqual([name, path, status, answer.text]);
  }
  const fresh = await call("POST", "/v1/organizations", { ...operator, json: { name: "fresh" } });
  const json = { organization: fresh.body.id, livemode: true };
  const { body } = await call("POST", "/v1/secret_keys", { ...operator, json });
  const token = String(body.token);
  expect((await ask("readSchema", "/v1/schema", { token })).status).toBe(404);
  expect((await ask("pushSchema", "/v1/schema", { token, json: { models: { a: { fields: {} } } } })).status).toBe(201);
  expect((await ask("revokeSecretKey", `/v1/secret_keys/${body.id}`, operator)).status).toBe(200);
  const { body: endpoint } = await ask("createWebhookEndpoint", "/v1/webhook_endpoints", {
    json: { url: "https://hooks.invalid/hooks", enabledEvents: ["slide"], description: "x", from: 0 },
  });
  const hook = `/v1/webhook_endpoints/${endpoint.id}`;
  expect((await ask("disableWebhookEndpoint", `${hook}/disable`)).status).toBe(201);
  expect((await ask("readWebhookEndpoint", hook)).body).toMatchObject({ status: "disabled", enabledEvents: ["slide"] });
  expect((await ask("updateWebhookEndpoint", hook, { json: { description: null } })).status).toBe(200);
  expect((await ask("rollWebhookSecret", `${hook}/roll_secret`)).status).toBe(201);
  expect((await ask("skipWebhookEvents", `${hook}/skip`, { json: { to: 1 } })).status).toBe(201);
  expect((await ask("skipWebhookEvents", `${hook}/skip`, { json: { to: 1_000_000 } })).status).toBe(400);
  const { body: attempts } = await ask("listWebhookAttempts", `${hook}/attempts`);
  expect(attempts.data).toContainEqual(expect.objectContaining({ kind: "skip", to: 1 }));
  expect((await ask("enableWebhookEndpoint", `${hook}/enable`)).status).toBe(201);
  expect((await ask("deleteWebhookEndpoint", hook)).status).toBe(200);
  const { connectionString } = await anotherDatabase(app);
  const own = { connection: "direct", connectionString };
  const datasource = await ask("createDatasource", "/v1/datasources", { json: own });
  expect(datasource.status).toBe(201);
  const its = `/v1/datasources/${datasource.body.id}`;
  await until(async () => (await ask("readDatasource", its)).body.status === "active");
  expect((await ask("createDatasource", "/v1/datasources", { json: own })).status).toBe(409);
  expect((await ask("rotateDatasourceKey", `${its}/rotate_key`, { json: { connectionString } })).status).toBe(201);
  expect((await ask("deleteDatasource", its)).status).toBe(200);
  await until(async () => (await ask("readDatasource", its)).status === 404);
  const { body: minted } = await ask("createCapability", "/v1/capabilities", { json: { wideScope: true } });
  const capability = `/v1/capabilities/${minted.id}`;
  expect((await ask("readCapability", capability)).status).toBe(200);
  expect((await ask("createCapability", "/v1/capabilities", { token: String(minted.token), json: {} })).status).toBe(
    403,
  );
  expect((await ask("rotateCapability", `${capability}/rotate`, { json: { graceSeconds: 5 } })).status).toBe(201);
  expect((await ask("revokeCapability", capability)).status).toBe(200);
  const key = await ask("createEphemeralKey", "/v1/ephemeral_keys", { json: { user: { id: "ben" } } });
  const asBen: Asking = { token: String(key.body.token) };
  expect((await ask("createRecord", SLIDES, { ...asBen, json: { id: "ben", data: { deckId: "d" } } })).status).toBe(
    403,
  );
  expect((await ask("readRecord", `${SLIDES}/o1`, asBen)).status).toBe(404);
  expect((await ask("acquireClaim", `${SLIDES}/o1/claim`, { json: { field: "title" } })).status).toBe(201);
  const wide = String((await call("POST", "/v1/capabilities", { json: { wideScope: true } })).body.token);
  const others: Asking = { token: wide, json: { field: "title" } };
  expect((await ask("acquireClaim", `${SLIDES}/o1/claim`, others)).status).toBe(409);
  expect((await ask("updateRecord", `${SLIDES}/o1`, { token: wide, json: { data: { title: "x" } } })).status).toBe(409);
  expect((await ask("acquireClaim", `${SLIDES}/o1/claim`, { ...others, json: { preempt: true } })).status).toBe(403);
  const waits = await ask("acquireClaim", `${SLIDES}/o1/claim`, { ...others, json: { field: "title", queue: true } });
  expect(waits.status).toBe(202);
  const waiting = `/v1/claims/${waits.body.id}`;
  expect((await ask("readClaim", waiting, { token: wide })).status).toBe(200);
  expect((await ask("readRecord", `${SLIDES}/o1`)).body.claims).toHaveLength(1);
  expect((await ask("renewClaim", `${waiting}/renew`)).status).toBe(403);
  expect((await ask("releaseClaim", waiting)).status).toBe(403);
  expect((await ask("releaseClaim", waiting, { token: wide })).status).toBe(200);
  expect((await ask("renewClaim", `${waiting}/renew`, { token: wide })).status).toBe(409);
  expect((await ask("releaseRecord", `${SLIDES}/o1/claim`)).body.released).toBe(1);
  expect((await ask("revokeEphemeralKey", `/v1/ephemeral_keys/${key.body.id}`)).status).toBe(200);
  const { body: proposed } = await ask("listProposals", "/v1/proposals?limit=1");
  const [first] = proposed.data as { id: string }[];
  const proposal = `/v1/proposals/${first?.id}`;
  expect((await ask("readProposal", proposal)).status).toBe(200);
  expect((await ask("acceptProposal", `${proposal}/accept`, { token: wide })).status).toBe(200);
  expect((await ask("rejectProposal", `${proposal}/reject`, { token: wide })).status).toBe(409);
  expect((await ask("withdrawProposal", `${proposal}/withdraw`)).status).toBe(409);
  const asked = new Set(requests.map(([name]) => name));
  const missing = Object.keys(endpoints).filter((name) => !asked.has(name as EndpointName));
  expect(missing, "give each endpoint a request above").toEqual([]);
});

test("[E6] the check of answers would find a wrong one", async () => {
  const answer = await call("GET", `${SLIDES}/o1`);
  const template = templateOf("readRecord");
  expect(() => check(template, { ...answer, body: { ...answer.body, stamp: "1" } })).toThrow(/must be integer/);
  expect(() => check(template, { ...answer, status: 418 })).toThrow(/not said to answer 418/);
  const refused = { ...answer, status: 404, body: { type: "x", message: "x", code: "commit_not_found" } };
  expect(() => check(template, refused)).toThrow(/not said to answer 404 commit_not_found/);
  expect(() => check(template, { ...answer, headers: { ...answer.headers, "retry-after": "1" } })).toThrow(/header/);
});

test("[E6] query parameters take what is said of them, and nothing beyond", async () => {
  let tried = 0;
  const held = String((await call("POST", `${SLIDES}/o1/claim`, { json: { action: "look" } })).body.id);
  for (const [name, { query = {}, audience }] of Object.entries(endpoints) as [
    EndpointName,
    (typeof endpoints)["listRecords"],
  ][]) {
    if (audience !== "token") continue;
    const path = paths[name][1].replace("claims/:id", `claims/${held}`).replace(":model", "slide").replace(":id", "o1");
    const statusOf = async (parameter: string, text: unknown) =>
      (await call(paths[name][0], `${path}?${parameter}=${encodeURIComponent(String(text))}`)).status;
    for (const [parameter, { schema }] of Object.entries(query) as [string, { schema?: Plain }][]) {
      const { minimum, maximum, anyOf } = (schema ?? {}) as { minimum?: number; maximum?: number; anyOf?: Plain[] };
      if (minimum !== undefined && maximum !== undefined) {
        tried += 1;
        expect([name, parameter, await statusOf(parameter, minimum)]).toEqual([name, parameter, 200]);
        // To wait for the whole time, or to read beyond the log, is tried elsewhere.
        if (parameter !== "wait" && parameter !== "after")
          expect([name, parameter, await statusOf(parameter, maximum)]).toEqual([name, parameter, 200]);
        for (const beyond of [minimum - 1, maximum + 1])
          expect([name, parameter, await statusOf(parameter, beyond)]).toEqual([name, parameter, 400]);
      }
      for (const { const: text } of anyOf ?? []) {
        tried += 1;
        expect([name, parameter, await statusOf(parameter, text)]).toEqual([name, parameter, 200]);
        expect([name, parameter, await statusOf(parameter, `${text}x`)]).toEqual([name, parameter, 400]);
      }
    }
  }
  expect(tried).toBeGreaterThan(8);
});

test("[E5] with a token it has the models of that tenant, with their fields", async () => {
  const document = await described(keys.live);
  const ofModel = responseChecker(document);
  const paths = document.paths as Plain;
  for (const name of Object.keys(referenceSchema.models)) expect(paths).toHaveProperty([`/v1/models/${name}/{id}`]);
  expect(Object.keys(generic.paths as Plain)).not.toContain("/v1/models/slide");
  const id = "m1";
  ofModel(["POST", "/v1/models/slide"], await call("POST", SLIDES, { json: { id, data: { title: "a", order: 1 } } }));
  const read = ofModel(["GET", "/v1/models/slide/{id}"], await call("GET", `${SLIDES}/${id}`));
  ofModel(["GET", "/v1/models/slide"], await call("GET", SLIDES));
  const wrong = { ...read, body: { ...read.body, data: { id, title: 5 } } };
  expect(() => ofModel(["GET", "/v1/models/slide/{id}"], wrong)).toThrow(/must be string/);
  const schemas = (document.components as { schemas: Record<string, Plain> }).schemas;
  expect(schemas.documentchunk_Create?.required).toEqual(["attachmentId", "chunkIndex", "content", "tokenCount"]);
  expect(schemas.documentchunk_Update).not.toHaveProperty("required");
  const lists = (paths["/v1/models/slide"] as { get: { parameters: { name: string; schema: Plain }[] } }).get;
  const { schema } = lists.parameters.find(({ name }) => name === "order_by") as { schema: Plain };
  const [oneKey] = schema.anyOf as [Plain];
  expect(oneKey.enum).toEqual(expect.arrayContaining(["id", "title", "order", "createdAt", "updatedAt"]));
});

test("[E4] the document has the version of the interface, and this server's URL", async () => {
  expect(generic).toMatchObject({ openapi: "3.1.0", info: { version: "0.16.1" }, servers: [{ url: app.url }] });
  const hidden = await app.another({ publicUrl: "https://sync.example" });
  const { body, text } = await hidden.call("GET", "/openapi.json", { token: null });
  expect(body.servers).toEqual([{ url: "https://sync.example", description: "This server." }]);
  expect(text).not.toContain("127.0.0.1");
});

test("[E4] the document is not sent again to a client that has it", async () => {
  for (const token of [null, keys.live]) {
    const { headers } = await call("GET", "/api/openapi.json", { token });
    expect(headers["cache-control"]).toBe(token === null ? "public, no-cache" : "private, no-cache");
    expect(headers.vary).toContain("authorization");
    const again = await call("GET", "/openapi.json", { token, headers: { "if-none-match": String(headers.etag) } });
    expect(again.status).toBe(304);
    expect(again.text).toBe("");
  }
});
