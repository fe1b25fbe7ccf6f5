import { setTimeout as pause } from "node:timers/promises";
import { absent, atLeast } from "../../assertions/pattern.ts";
import { HOOK, NOTE, QUIET } from "../../environment/models.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import {
  carries,
  deliveryOf,
  ENDPOINTS,
  endpointRoutes,
  endpointShape,
  eventsOf,
  hook,
  hooked,
  quiet,
  reaches,
  receiving,
  register,
  settle,
} from "../../kit/webhook-kit.ts";
import { idsOf } from "../../protocol/answers.ts";
import { signatureOf, signaturesOf } from "../../protocol/webhook-signature.ts";
import type { Delivery } from "../../transport/receiver.ts";

/** How long a case waits for a request that must not come. */
const SILENCE_MS = 700;

export const section: SuiteSection = {
  title: "Changes of webhook endpoints",
  cases: [
    check("A PATCH answers 200 with the endpoint; omitted fields stay.", async (t) => {
      const { path, id } = await register(t, quiet({ description: "one" }));
      t.answered(await t.patch(path, { enabledEvents: [HOOK] }), 200, {
        ...endpointShape,
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
      ([json]) => `A PATCH with ${JSON.stringify(json).slice(0, 60)} is 400.`,
      async (t, [json, code, param]) => {
        const { path, body } = await register(t, quiet());
        t.refused(await t.patch(path, json), code, { param });
        t.answered(await t.get(path), 200, { status: "enabled", secretLast4: String(body.secretLast4) });
      },
    ),
    check("[W1] A roll answers 201 with a new secret and changes nothing else.", async (t) => {
      const { path, id, secret } = await register(t, quiet({ description: "one" }));
      const { body } = t.answered(await t.post(`${path}/roll_secret`), 201, {
        ...endpointShape,
        id,
        status: "enabled",
        description: "one",
        secret: /^whsec_[A-Za-z0-9+/]{43}=$/,
      });
      t.that(body.secret !== secret, "another secret", "the same");
      t.is(body.secretLast4, String(body.secret).slice(-4), "secretLast4");
      t.answered(await t.get(path), 200, { secret: absent, secretLast4: String(body.secret).slice(-4) });
    }),
    check("A client can disable an endpoint and enable it again; a second request changes nothing.", async (t) => {
      const { path } = await register(t, quiet());
      for (let times = 0; times < 2; times++)
        t.answered(await t.post(`${path}/disable`), 201, { status: "disabled", disabledReason: "owner" });
      t.answered(await t.get(path), 200, { status: "disabled", disabledReason: "owner" });
      for (let times = 0; times < 2; times++)
        t.answered(await t.post(`${path}/enable`), 201, { status: "enabled", disabledReason: null });
      t.answered(await t.get(path), 200, { status: "enabled", disabledReason: null, attempt: 0 });
    }),
    check("A removed endpoint is missing, also from the list.", async (t) => {
      const { path, id } = await register(t, quiet());
      t.answered(await t.remove(path), 200, { object: "webhook_endpoint", id, deleted: true });
      for (const [method, rest, json] of endpointRoutes)
        t.refused(await t.ask(method, path + rest, json && { json }), "webhook_endpoint_not_found");
      t.that(!idsOf(await t.get(ENDPOINTS)).includes(id), "a list without the endpoint");
    }),
    check("A disabled endpoint gets nothing; once enabled, it gets every change after its cursor.", async (t) => {
      const { receiver, endpoint } = await hooked(t);
      const before = await hook(t);
      await reaches(t, endpoint, before.at);
      await settle(t, endpoint);
      const stopped = await t.get(endpoint.path);
      const made = [await hook(t), await hook(t), await hook(t)];
      const ids = made.map(({ id }) => id);
      await pause(SILENCE_MS);
      t.is(eventsOf(receiver.deliveries, ...ids), [], "events while it is disabled");
      t.answered(await t.get(endpoint.path), 200, { cursor: Number(stopped.body.cursor), lag: atLeast(3) });
      t.answered(await t.post(`${endpoint.path}/enable`), 201, { status: "enabled" });
      await reaches(t, endpoint, Number(made.at(-1)?.at));
      t.is(
        eventsOf(receiver.deliveries, before.id, ...ids).map(({ objectId }) => objectId),
        [before.id, ...ids],
        "the records",
      );
    }),
    check("[W16] A removed endpoint gets nothing more.", async (t) => {
      const { receiver, endpoint } = await hooked(t);
      const before = await hook(t);
      await reaches(t, endpoint, before.at);
      t.answered(await t.remove(endpoint.path), 200);
      const after = await hook(t);
      await pause(SILENCE_MS);
      t.is(eventsOf(receiver.deliveries, after.id), [], "events after it was removed");
    }),
    check("After a roll both secrets sign, in any order.", async (t) => {
      const { receiver, endpoint } = await hooked(t);
      const rolled = t.answered(await t.post(`${endpoint.path}/roll_secret`), 201, { secret: /^whsec_/ });
      const { id } = await hook(t);
      const delivery = await deliveryOf(receiver, id);
      t.is(signaturesOf(delivery).length, 2, "signatures");
      t.is(
        [signatureOf(endpoint.secret, delivery), signatureOf(String(rolled.body.secret), delivery)].sort(),
        [0, 1],
        "places of the two signatures",
      );
    }),
    check("After a change of the url, the next delivery goes to the new address.", async (t) => {
      const { receiver, endpoint } = await hooked(t);
      const other = await receiving(t);
      const before = await hook(t);
      await reaches(t, endpoint, before.at);
      t.answered(await t.patch(endpoint.path, { url: `${other.url}/new?a=b` }), 200, { url: `${other.url}/new?a=b` });
      const after = await hook(t);
      const delivery = await deliveryOf(other, after.id);
      t.is(delivery.path, "/hooks/new?a=b", "the path of the request");
      t.is(eventsOf(receiver.deliveries, after.id), [], "events at the old address");
      t.is(eventsOf(other.deliveries, before.id), [], "events at the new address that the old address had got");
      const revision = ({ headers }: Delivery) => String(headers["webhook-id"]).split("_").at(-3);
      t.that(
        receiver.deliveries.every((one) => revision(one) !== revision(delivery)),
        "another revision in webhook-id",
        delivery.headers["webhook-id"],
      );
    }),
    check("A changed subscription applies from the cursor on.", async (t) => {
      const { receiver, endpoint } = await hooked(t);
      const before = await t.note();
      await reaches(t, endpoint, before.at);
      t.answered(await t.patch(endpoint.path, { enabledEvents: [NOTE] }), 200, { enabledEvents: [NOTE] });
      const after = await t.note();
      const { id } = await hook(t);
      await deliveryOf(receiver, after.id);
      t.is(eventsOf(receiver.deliveries, before.id, id), [], "events of models that were not subscribed to");
    }),
    check("[W16] An endpoint that is removed during a delivery is missing at once.", async (t) => {
      const { receiver, endpoint } = await hooked(t);
      receiver.answer((response) => void setTimeout(() => response.writeHead(200).end(), 600));
      const { id } = await hook(t);
      await deliveryOf(receiver, id);
      t.answered(await t.remove(endpoint.path), 200, { deleted: true });
      t.refused(await t.get(endpoint.path), "webhook_endpoint_not_found");
      await pause(SILENCE_MS + 600);
      t.is(receiver.deliveries.filter(carries(id)).length, 1, "requests with that event");
      t.that(!idsOf(await t.get(ENDPOINTS)).includes(endpoint.id), "a list without the endpoint");
    }),
  ],
};
