import { absent, atLeast } from "../../assertions/pattern.ts";
import { QUIET } from "../../environment/models.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import {
  ENDPOINTS,
  type Endpoint,
  endpointRoutes,
  endpointShape,
  hook,
  quiet,
  register,
} from "../../kit/webhook-kit.ts";
import { idsOf, rowsOf } from "../../protocol/answers.ts";

const unknownEndpoint = `${ENDPOINTS}/we_${"0".repeat(24)}`;

export const section: SuiteSection = {
  title: "Webhook endpoints",
  cases: [
    check(
      "[W1] A registration answers 201 with the endpoint: enabled, for all models, its cursor at the head, without an attempt.",
      async (t) => {
        const before = await t.head();
        const { body } = await register(t, { url: "https://conformance.invalid/hooks" });
        const after = await t.head();
        t.fits(
          body,
          {
            ...endpointShape,
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
      "[W1] Each endpoint has its own secret, whsec_ and the base64 of 32 bytes; secretLast4 is its end.",
      async (t) => {
        const [one, other] = [await register(t, quiet()), await register(t, quiet())];
        for (const { secret, body } of [one, other]) {
          t.fits(secret, /^whsec_[A-Za-z0-9+/]{43}=$/, "the secret");
          t.is(body.secretLast4, secret.slice(-4), "secretLast4");
        }
        t.that(one.secret !== other.secret, "another secret", "the same");
      },
    ),
    check("[W1] No other answer has the secret: no read, list or change.", async (t) => {
      const { id, path, secret } = await register(t, quiet());
      const answers = [
        t.answered(await t.get(path), 200, { ...endpointShape, id, secret: absent }),
        t.answered(await t.get(ENDPOINTS), 200),
        t.answered(await t.patch(path, { description: "x" }), 200, { ...endpointShape, secret: absent }),
        t.answered(await t.post(`${path}/disable`), 201, { ...endpointShape, secret: absent }),
        t.answered(await t.post(`${path}/enable`), 201, { ...endpointShape, secret: absent }),
      ];
      t.that(
        answers.every(({ text }) => !text.includes(secret.slice(6)) && !text.includes('"secret"')),
        "no secret in any of them",
      );
    }),
    check("[W1] The endpoint has the enabledEvents, description and from that the client sent.", async (t) => {
      const { at } = await hook(t);
      const { path } = await register(t, quiet({ description: "of the conformance suite", from: at }));
      t.answered(await t.get(path), 200, {
        enabledEvents: [QUIET],
        description: "of the conformance suite",
        cursor: atLeast(at),
      });
    }),
    check("[W1] [H4] In a registration null counts as absent; a route without a body refuses one.", async (t) => {
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
    check("[W1] The list of endpoints has the list envelope.", async (t) => {
      const [one, other] = [await register(t, quiet()), await register(t, quiet())];
      const list = t.answered(await t.get(ENDPOINTS), 200, { object: "list", has_more: false, next_cursor: null });
      for (const { id } of [one, other])
        t.fits(
          rowsOf(list).find((row) => row.id === id),
          endpointShape,
          `${id} in the list`,
        );
    }),
    check("[W4] An endpoint is missing in the organization's other tenant.", async (t) => {
      const token = t.otherKey();
      const { id, path } = await register(t, quiet());
      t.that(!idsOf(t.answered(await t.get(ENDPOINTS, { token }), 200)).includes(id), "a list without the endpoint");
      for (const [method, rest, json] of endpointRoutes)
        t.refused(await t.ask(method, path + rest, { token, ...(json && { json }) }), "webhook_endpoint_not_found");
      t.answered(await t.get(path), 200, { id, status: "enabled", description: null });
    }),
    check("[W4] An endpoint is missing in another organization.", async (t) => {
      const { key: token } = await t.freshTenant(false);
      const { id, path } = await register(t, quiet());
      t.is(idsOf(t.answered(await t.get(ENDPOINTS, { token }), 200)), [], "ids in the other organization's list");
      for (const [method, rest, json] of endpointRoutes)
        t.refused(await t.ask(method, path + rest, { token, ...(json && { json }) }), "webhook_endpoint_not_found");
      t.answered(await t.get(path), 200, { id, status: "enabled", description: null });
    }),
    ...checkEach(
      endpointRoutes,
      ([method, rest]) => `${method} ${ENDPOINTS}/{id}${rest} of an unknown endpoint is 404.`,
      async (t, [method, rest, json]) =>
        t.refused(await t.ask(method, unknownEndpoint + rest, json && { json }), "webhook_endpoint_not_found"),
    ),
    check("[W1] Only a secret key manages endpoints: every other token gets 403 on every route.", async (t) => {
      const { path, id } = await register(t, quiet());
      const { token } = await t.capability({ operations: ["*.*"], wideScope: true });
      const { token: person } = await t.ephemeral({ user: { id: t.id() } });
      t.refused(await t.post(ENDPOINTS, quiet(), { token }), "secret_key_required");
      t.refused(await t.post(ENDPOINTS, quiet(), { token: person }), "secret_key_required");
      t.refused(await t.get(ENDPOINTS, { token }), "secret_key_required");
      for (const [method, rest, json] of endpointRoutes)
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
    check("[W1] An undeclared model is 400 unknown_model, in a registration and in a PATCH.", async (t) => {
      const { path } = await register(t, quiet());
      const enabledEvents = [QUIET, "ConfNothing"];
      const refused = { status: 400, param: "enabledEvents[1]" };
      t.refused(await t.post(ENDPOINTS, quiet({ enabledEvents })), "unknown_model", refused);
      const withNul = quiet({ enabledEvents: [QUIET, "Conf\0Quiet"] });
      t.refused(await t.post(ENDPOINTS, withNul), "invalid_value", { param: "enabledEvents[1]" });
      t.refused(await t.patch(path, { enabledEvents }), "unknown_model", { status: 400 });
      t.answered(await t.get(path), 200, { enabledEvents: [QUIET] });
    }),
    check("[W4] A tenant may have twenty endpoints; removing one makes room.", async (t) => {
      const { key: token } = await t.freshTenant();
      const made: Endpoint[] = [];
      for (let i = 0; i < 20; i++) made.push(await register(t, quiet(), { token }));
      t.refused(await t.post(ENDPOINTS, quiet(), { token }), "too_many_endpoints");
      t.is(rowsOf(await t.get(ENDPOINTS, { token })).length, 20, "endpoints in the list");
      t.answered(await t.remove(String(made[7]?.path), { token }), 200);
      await register(t, quiet(), { token });
      t.refused(await t.post(ENDPOINTS, quiet(), { token }), "too_many_endpoints");
    }),
  ],
};
