import { absent, atLeast, oneOf, orNull, type Pattern, position, someText, time } from "../../assertions/pattern.ts";
import { NotApplicable } from "../../assertions/unmet.ts";
import { HOOK, NOTE, QUIET } from "../../environment/models.ts";
import type { Kit } from "../../kit/kit.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import { allowsPrivate, ENDPOINTS, type Endpoint, eventually, hook, quiet, register } from "../../kit/webhook-kit.ts";
import { idsOf, positionOf, type Row, rowsOf } from "../../protocol/answers.ts";

/** All keys of an endpoint as every answer shows it. */
const shape = {
  object: "webhook_endpoint",
  id: /^we_[0-9A-Za-z]{24}$/,
  url: someText,
  status: oneOf("enabled", "disabled"),
  enabledEvents: oneOf(["*"], [QUIET], [HOOK]),
  description: orNull(someText),
  cursor: position,
  lag: position,
  attempt: position,
  nextAttemptAt: orNull(time),
  lastError: orNull({ code: someText }),
  lastSuccessAt: orNull(time),
  disabledReason: orNull(someText),
  secretLast4: /^.{4}$/,
  createdAt: time,
} as const;

const nobody = `${ENDPOINTS}/we_${"0".repeat(24)}`;
/** Every route below an endpoint, with a body that would be taken. */
const routes: readonly (readonly [method: string, rest: string, json?: object])[] = [
  ["GET", ""],
  ["PATCH", "", { description: "x" }],
  ["DELETE", ""],
  ["POST", "/roll_secret"],
  ["POST", "/enable"],
  ["POST", "/disable"],
  ["POST", "/test"],
  ["POST", "/skip", { to: 1 }],
  ["GET", "/attempts"],
];

/** Addresses that are none for an endpoint, whatever the server allows. */
const NO_ADDRESSES = [
  "ftp://conformance.invalid/",
  "file:///etc/passwd",
  "javascript:alert(1)",
  "ws://conformance.invalid/",
  "//x",
  "conformance.invalid/hooks",
  "",
  "https://",
  "https:///x",
  "https://user@conformance.invalid/",
  "https://user:password@conformance.invalid/",
  "https://conformance.invalid:22/",
  "https://conformance.invalid:80/",
  "https://conformance.invalid:1023/",
  ...[1433, 3306, 5432, 6379, 9200, 11211, 27017].map((port) => `https://conformance.invalid:${port}/`),
  `https://conformance.invalid/${"x".repeat(10_000)}`,
];

/** Not public, in every spelling that leads there. */
const PRIVATE_ADDRESSES = [
  "https://127.0.0.1/",
  "https://0x7f.1/",
  "https://2130706433/",
  "https://017700000001/",
  "https://127。0。0。1/",
  "https://localhost/",
  "https://localhost./",
  "https://0.0.0.0/",
  "https://10.0.0.1/",
  "https://172.16.0.1/",
  "https://192.168.1.1/",
  "https://169.254.169.254/",
  "https://100.64.0.1/",
  "https://224.0.0.1/",
  "https://255.255.255.255/",
  "https://[::1]/",
  "https://[::]/",
  "https://[::ffff:127.0.0.1]/",
  "https://[64:ff9b::7f00:1]/",
  "https://[2002:7f00:1::]/",
  "https://[2001:db8::1]/",
  "https://[fc00::1]/",
  "https://[fe80::1]/",
];

const show = (url: string): string => (url.length > 60 ? `an https address of ${url.length} characters` : url || '""');

/** An endpoint that was stopped, so that its cursor stays where it is. */
async function stopped(t: Kit, body: Row): Promise<Endpoint> {
  const endpoint = await register(t, body);
  t.answered(await t.post(`${endpoint.path}/disable`), 201, { status: "disabled" });
  return endpoint;
}

async function refusedAddress(t: Kit, url: string, code: Pattern): Promise<void> {
  const refused = { type: "validation_error", code, param: "url" };
  const answer = await t.post(ENDPOINTS, { url, enabledEvents: [QUIET] });
  if (answer.status === 201) t.after(() => t.environment.ask("DELETE", `${ENDPOINTS}/${answer.body.id}`));
  t.answered(answer, 400, refused);
}

export const section: SuiteSection = {
  title: "Webhook endpoints",
  cases: [
    check(
      "[W1] A registration answers 201 with the endpoint: enabled, for all models, its cursor at the head, nothing tried yet.",
      async (t) => {
        const before = await t.head();
        const { body } = await register(t, { url: "https://conformance.invalid/hooks" });
        const after = await t.head();
        t.fits(
          body,
          {
            ...shape,
            url: "https://conformance.invalid/hooks",
            status: "enabled",
            enabledEvents: ["*"],
            description: null,
            attempt: 0,
            nextAttemptAt: null,
            lastError: null,
            lastSuccessAt: null,
            disabledReason: null,
          },
          "the endpoint",
        );
        t.that(Number(body.cursor) >= before && Number(body.cursor) <= after, "a cursor at the head", body.cursor);
      },
    ),
    check(
      "[W1] Its secret is whsec_ and the base64 of 32 bytes, another for each; secretLast4 is its end.",
      async (t) => {
        const [one, other] = [await register(t, quiet()), await register(t, quiet())];
        for (const { secret, body } of [one, other]) {
          t.fits(secret, /^whsec_[A-Za-z0-9+/]{43}=$/, "the secret");
          t.is(body.secretLast4, secret.slice(-4), "secretLast4");
        }
        t.that(one.secret !== other.secret, "another secret", "the same");
      },
    ),
    check("[W1] The secret is in no other answer: not in reads, lists, changes.", async (t) => {
      const { id, path, secret } = await register(t, quiet());
      const answers = [
        t.answered(await t.get(path), 200, { ...shape, id, secret: absent }),
        t.answered(await t.get(ENDPOINTS), 200),
        t.answered(await t.patch(path, { description: "x" }), 200, { ...shape, secret: absent }),
        t.answered(await t.post(`${path}/disable`), 201, { ...shape, secret: absent }),
        t.answered(await t.post(`${path}/enable`), 201, { ...shape, secret: absent }),
      ];
      t.that(
        answers.every(({ text }) => !text.includes(secret.slice(6)) && !text.includes('"secret"')),
        "no secret in any of them",
      );
    }),
    check("[W1] enabledEvents, description and from are kept as they were given.", async (t) => {
      const { at } = await hook(t);
      const { path } = await register(t, quiet({ description: "of the conformance suite", from: at }));
      t.answered(await t.get(path), 200, {
        enabledEvents: [QUIET],
        description: "of the conformance suite",
        cursor: atLeast(at),
      });
    }),
    check("[W1] [H4] Null is absent in a registration; a route without a body takes none.", async (t) => {
      const { path } = await register(t, {
        ...{ url: "https://conformance.invalid/hooks", enabledEvents: null, description: null, from: null },
      });
      t.answered(await t.get(path), 200, { enabledEvents: ["*"], description: null });
      for (const [method, rest] of [
        ...(["enable", "disable", "roll_secret", "test"] as const).map((route) => ["POST", `/${route}`] as const),
        ["DELETE", ""] as const,
      ]) {
        t.refused(await t.ask(method, path + rest, { json: { x: 1 } }), "unknown_field", { param: "x" });
        t.refused(await t.ask(method, path + rest, { json: [1] }), "invalid_body");
      }
      t.answered(await t.post(`${path}/disable`, {}), 201);
    }),
    check("[W1] Endpoints are listed with the list envelope.", async (t) => {
      const [one, other] = [await register(t, quiet()), await register(t, quiet())];
      const list = t.answered(await t.get(ENDPOINTS), 200, { object: "list", has_more: false, next_cursor: null });
      for (const { id } of [one, other])
        t.fits(
          rowsOf(list).find((row) => row.id === id),
          shape,
          `${id} in the list`,
        );
    }),
    check("[W4] One tenant's endpoints are missing in the organization's other one.", async (t) => {
      const token = t.otherKey();
      const { id, path } = await register(t, quiet());
      t.that(!idsOf(t.answered(await t.get(ENDPOINTS, { token }), 200)).includes(id), "a list without it");
      for (const [method, rest, json] of routes)
        t.refused(await t.ask(method, path + rest, { token, ...(json && { json }) }), "webhook_endpoint_not_found");
      t.answered(await t.get(path), 200, { id, status: "enabled", description: null });
    }),
    check("[W4] Another organization's endpoint is missing.", async (t) => {
      const { key: token } = await t.freshTenant(false);
      const { id, path } = await register(t, quiet());
      t.is(idsOf(t.answered(await t.get(ENDPOINTS, { token }), 200)), [], "ids in the other organization's list");
      for (const [method, rest, json] of routes)
        t.refused(await t.ask(method, path + rest, { token, ...(json && { json }) }), "webhook_endpoint_not_found");
      t.answered(await t.get(path), 200, { id, status: "enabled", description: null });
    }),
    ...checkEach(
      routes,
      ([method, rest]) => `${method} ${ENDPOINTS}/{id}${rest} of an endpoint that is not there is 404.`,
      async (t, [method, rest, json]) =>
        t.refused(await t.ask(method, nobody + rest, json && { json }), "webhook_endpoint_not_found"),
    ),
    check("[W1] Only a secret key manages endpoints: to every other token all routes are 403.", async (t) => {
      const { path, id } = await register(t, quiet());
      const { token } = await t.capability({ operations: ["*.*"], wideScope: true });
      const { token: person } = await t.ephemeral({ user: { id: t.id() } });
      t.refused(await t.post(ENDPOINTS, quiet(), { token }), "secret_key_required");
      t.refused(await t.post(ENDPOINTS, quiet(), { token: person }), "secret_key_required");
      t.refused(await t.get(ENDPOINTS, { token }), "secret_key_required");
      for (const [method, rest, json] of routes)
        t.refused(await t.ask(method, path + rest, { token, ...(json && { json }) }), "secret_key_required");
      t.answered(await t.get(path), 200, { id, status: "enabled", description: null });
    }),
    ...checkEach<readonly [json: unknown, code: string, param?: string]>(
      [
        [{}, "missing_field", "url"],
        [{ url: 1 }, "invalid_type", "url"],
        [{ url: null }, "missing_field", "url"],
        [{ ...quiet(), secret: "whsec_x" }, "unknown_field", "secret"],
        [{ ...quiet(), status: "disabled" }, "unknown_field", "status"],
        [{ ...quiet(), enabledEvents: QUIET }, "invalid_type", "enabledEvents"],
        [{ ...quiet(), enabledEvents: [1] }, "invalid_type", "enabledEvents[0]"],
        [{ ...quiet(), enabledEvents: [] }, "invalid_value", "enabledEvents"],
        [{ ...quiet(), description: 1 }, "invalid_type", "description"],
        [{ ...quiet(), description: "x".repeat(1_001) }, "invalid_value", "description"],
        [{ ...quiet(), from: "0" }, "invalid_type", "from"],
        [{ ...quiet(), from: -1 }, "invalid_value", "from"],
        [{ ...quiet(), from: 1.5 }, "invalid_type", "from"],
        [{ ...quiet(), from: 2 ** 52 }, "read_at_in_future", "from"],
      ],
      ([json]) => `[W1] A registration with ${JSON.stringify(json).slice(0, 110)} is 400.`,
      async (t, [json, code, param]) => {
        const answer = await t.post(ENDPOINTS, json);
        if (answer.status === 201) t.after(() => t.environment.ask("DELETE", `${ENDPOINTS}/${answer.body.id}`));
        t.refused(answer, code, param === undefined ? {} : { param });
      },
    ),
    check("[W1] A model that is not declared is 400 unknown_model, at a registration and at a change.", async (t) => {
      const { path } = await register(t, quiet());
      const enabledEvents = [QUIET, "ConfNothing"];
      const refused = { status: 400, param: "enabledEvents[1]" };
      t.refused(await t.post(ENDPOINTS, quiet({ enabledEvents })), "unknown_model", refused);
      const withNul = quiet({ enabledEvents: [QUIET, "Conf\0Quiet"] });
      t.refused(await t.post(ENDPOINTS, withNul), "invalid_value", { param: "enabledEvents[1]" });
      t.refused(await t.patch(path, { enabledEvents }), "unknown_model", { status: 400 });
      t.answered(await t.get(path), 200, { enabledEvents: [QUIET] });
    }),
    ...checkEach(
      NO_ADDRESSES,
      (url) => `[W2] ${show(url)} is 400 invalid_url.`,
      (t, url) => refusedAddress(t, url, "invalid_url"),
    ),
    check("[W2] An http address is 400 invalid_url.", async (t) => {
      if (await allowsPrivate(t.environment)) throw new NotApplicable("the server allows http and private addresses");
      await refusedAddress(t, "http://conformance.invalid/", "invalid_url");
    }),
    ...checkEach(
      PRIVATE_ADDRESSES,
      (url) => `[W2] ${url} is not public, and 400 blocked_address.`,
      async (t, url) => {
        if (await allowsPrivate(t.environment)) throw new NotApplicable("the server allows http and private addresses");
        await refusedAddress(t, url, "blocked_address");
      },
    ),
    check("[W2] A change of the address is held to the same rules.", async (t) => {
      const { path, body } = await register(t, quiet());
      for (const url of ["ftp://conformance.invalid/", "https://conformance.invalid:5432/", "https://a:b@x.invalid/"])
        t.refused(await t.patch(path, { url }), "invalid_url", { param: "url" });
      if (!(await allowsPrivate(t.environment)))
        t.refused(await t.patch(path, { url: "https://127.0.0.1/" }), "blocked_address", { param: "url" });
      t.answered(await t.get(path), 200, { url: String(body.url) });
    }),
    check("[W2] A name with letters beyond ASCII is kept as punycode.", async (t) => {
      const { path } = await register(t, quiet({ url: "https://bücher.invalid/hooks" }));
      t.answered(await t.get(path), 200, { url: "https://xn--bcher-kva.invalid/hooks" });
    }),
    ...checkEach(
      [
        "https://conformance.invalid:443/a",
        "https://conformance.invalid:1024/a?b=c",
        "https://conformance.invalid:65535/",
      ],
      (url) => `${url} is taken.`,
      async (t, url) => t.fits((await register(t, quiet({ url }))).body, { status: "enabled" }, "the endpoint"),
    ),
    check("A change answers 200 with the endpoint; what it does not name stays.", async (t) => {
      const { path, id } = await register(t, quiet({ description: "one" }));
      t.answered(await t.patch(path, { enabledEvents: [HOOK] }), 200, {
        ...shape,
        id,
        enabledEvents: [HOOK],
        description: "one",
        url: "https://conformance.invalid/hooks",
      });
      t.answered(await t.patch(path, { enabledEvents: ["*"] }), 200, { enabledEvents: ["*"] });
      t.answered(await t.patch(path, { enabledEvents: [QUIET], url: "https://other.invalid/" }), 200, {
        url: "https://other.invalid/",
      });
      t.answered(await t.patch(path, { description: null }), 200, { description: null });
      t.answered(await t.get(path), 200, { url: "https://other.invalid/", description: null, enabledEvents: [QUIET] });
    }),
    ...checkEach<readonly [json: unknown, code: string, param: string]>(
      [
        [{ status: "disabled" }, "unknown_field", "status"],
        [{ secret: "whsec_x" }, "unknown_field", "secret"],
        [{ from: 0 }, "unknown_field", "from"],
        [{ cursor: 0 }, "unknown_field", "cursor"],
        [{ enabledEvents: [] }, "invalid_value", "enabledEvents"],
        [{ url: 1 }, "invalid_type", "url"],
        [{ description: "x".repeat(1_001) }, "invalid_value", "description"],
      ],
      ([json]) => `A change to ${JSON.stringify(json).slice(0, 60)} is 400.`,
      async (t, [json, code, param]) => {
        const { path, body } = await register(t, quiet());
        t.refused(await t.patch(path, json), code, { param });
        t.answered(await t.get(path), 200, { status: "enabled", secretLast4: String(body.secretLast4) });
      },
    ),
    check("[W1] A roll answers 201 with another secret, and with nothing else changed.", async (t) => {
      const { path, id, secret } = await register(t, quiet({ description: "one" }));
      const { body } = t.answered(await t.post(`${path}/roll_secret`), 201, {
        ...shape,
        id,
        status: "enabled",
        description: "one",
        secret: /^whsec_[A-Za-z0-9+/]{43}=$/,
      });
      t.that(body.secret !== secret, "another secret", "the same");
      t.is(body.secretLast4, String(body.secret).slice(-4), "secretLast4");
      t.answered(await t.get(path), 200, { secret: absent, secretLast4: String(body.secret).slice(-4) });
    }),
    check("An endpoint is disabled by request and enabled again; doing it twice changes nothing.", async (t) => {
      const { path } = await register(t, quiet());
      for (let times = 0; times < 2; times++)
        t.answered(await t.post(`${path}/disable`), 201, { status: "disabled", disabledReason: "owner" });
      t.answered(await t.get(path), 200, { status: "disabled", disabledReason: "owner" });
      for (let times = 0; times < 2; times++)
        t.answered(await t.post(`${path}/enable`), 201, { status: "enabled", disabledReason: null });
      t.answered(await t.get(path), 200, { status: "enabled", disabledReason: null, attempt: 0 });
    }),
    check("A removed endpoint is gone, from the list too.", async (t) => {
      const { path, id } = await register(t, quiet());
      t.answered(await t.remove(path), 200, { object: "webhook_endpoint", id, deleted: true });
      for (const [method, rest, json] of routes)
        t.refused(await t.ask(method, path + rest, json && { json }), "webhook_endpoint_not_found");
      t.that(!idsOf(await t.get(ENDPOINTS)).includes(id), "a list without it");
    }),
    check("A disabled endpoint's lag is how far the head is beyond its cursor.", async (t) => {
      const { path } = await stopped(t, quiet());
      const cursor = Number((await t.get(path)).body.cursor);
      for (let i = 0; i < 3; i++) await hook(t);
      const before = await t.head();
      const { body } = t.answered(await t.get(path), 200, { cursor });
      const after = await t.head();
      const lag = Number(body.lag);
      t.that(lag >= before - cursor && lag <= after - cursor, `a lag from ${before - cursor}`, lag);
    }),
    check("[W17] Its attempts are a list, empty to begin with; limit is 1 to 100.", async (t) => {
      const { path } = await register(t, quiet());
      t.answered(await t.get(`${path}/attempts`), 200, {
        object: "list",
        data: [],
        has_more: false,
        next_cursor: null,
      });
      t.answered(await t.get(`${path}/attempts?limit=100`), 200, { data: [] });
      for (const limit of ["0", "101", "abc", "1e2", "-1", ""])
        t.refused(await t.get(`${path}/attempts?limit=${limit}`), "invalid_limit");
      t.answered(await t.get(`${path}/attempts?starting_after=nothing`), 400, { type: "validation_error" });
    }),
    check("[W13] skip moves the cursor to a position, and is recorded among the attempts.", async (t) => {
      const { path } = await stopped(t, quiet());
      const cursor = Number((await t.get(path)).body.cursor);
      const [one, two] = [await hook(t), await hook(t)];
      t.answered(await t.post(`${path}/skip`, { to: one.at }), 201, { ...shape, cursor: one.at, attempt: 0 });
      t.answered(await t.get(path), 200, { cursor: one.at, status: "disabled", lag: atLeast(two.at - one.at) });
      t.answered(await t.get(`${path}/attempts`), 200, {
        data: [
          {
            object: "webhook_attempt",
            id: someText,
            kind: "skip",
            webhookId: null,
            from: cursor + 1,
            to: one.at,
            attempt: 0,
            status: null,
            error: null,
            startedAt: time,
          },
        ],
      });
    }),
    check("[W13] skip goes forward only, and never beyond the head.", async (t) => {
      const { path } = await stopped(t, quiet());
      const cursor = Number((await t.get(path)).body.cursor);
      const { at } = await hook(t);
      for (const [json, code] of [
        [{}, "missing_field"],
        [{ to: "1" }, "invalid_type"],
        [{ to: 0 }, "invalid_value"],
        [{ to: at, force: true }, "unknown_field"],
        [{ to: cursor }, "invalid_value"],
        [{ to: 2 ** 52 }, "read_at_in_future"],
      ] as const)
        t.refused(await t.post(`${path}/skip`, json), code);
      t.answered(await t.get(path), 200, { cursor });
      t.is(rowsOf(await t.get(`${path}/attempts`)), [], "attempts");
    }),
    check("[W18] A test answers with the request that it made, and why it failed where it did.", async (t) => {
      const { path, id } = await stopped(t, quiet());
      const { body } = t.answered(await t.post(`${path}/test`), 201, {
        object: "webhook_attempt",
        kind: "test",
        webhookId: new RegExp(`^msg_${id}_test_.+`),
        from: null,
        to: null,
        events: 1,
        attempt: 0,
        outcome: "failed",
        status: null,
        error: { code: "dns_failed", message: someText },
        response: null,
        startedAt: time,
        durationMs: position,
      });
      t.answered(await t.get(path), 200, { attempt: 0, status: "disabled" });
      t.is(idsOf(await t.get(`${path}/attempts`)), [body.id], "ids of its attempts");
    }),
    check("[W4] A tenant has twenty endpoints and no more; one that was removed makes room.", async (t) => {
      const { key: token } = await t.freshTenant();
      const made: Endpoint[] = [];
      for (let i = 0; i < 20; i++) made.push(await register(t, quiet(), { token }));
      t.refused(await t.post(ENDPOINTS, quiet(), { token }), "too_many_endpoints");
      t.is(rowsOf(await t.get(ENDPOINTS, { token })).length, 20, "endpoints in the list");
      t.answered(await t.remove(String(made[7]?.path), { token }), 200);
      await register(t, quiet(), { token });
      t.refused(await t.post(ENDPOINTS, quiet(), { token }), "too_many_endpoints");
    }),
    check("[W9] The cursor of an endpoint for whose models nothing comes follows the head.", async (t) => {
      const { path } = await register(t, quiet());
      const answer = await t.post(`/v1/models/${NOTE}`, { id: t.id(), data: {} });
      const at = positionOf(t.answered(answer, 200));
      const moved = await eventually(
        () => t.get(path),
        `a cursor from ${at}`,
        ({ cursor }) => Number(cursor) >= at,
      );
      t.answered(moved, 200, { attempt: 0, lastError: null, lastSuccessAt: null });
      t.is(rowsOf(await t.get(`${path}/attempts`)), [], "attempts");
    }),
  ],
};
