import { position, someText, time } from "../../assertions/pattern.ts";
import { check, type SuiteSection } from "../../kit/section.ts";
import { deliveryOf, hook, hooked, quiet, reaches, register, settle, stopped } from "../../kit/webhook-kit.ts";
import { idsOf, rowsOf } from "../../protocol/answers.ts";
import { signatureOf } from "../../protocol/webhook-signature.ts";

export const section: SuiteSection = {
  title: "Webhook attempts and tests",
  cases: [
    check("[W17] The attempts of a new endpoint are an empty list; limit is 1 to 100.", async (t) => {
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
      t.refused(await t.get(`${path}/attempts?starting_after=nothing`), "invalid_cursor");
    }),
    check("[W18] A test answers with its attempt, and with the error if it failed.", async (t) => {
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
    check("The list of attempts has each request, newest first, with its events and its outcome.", async (t) => {
      const { receiver, endpoint } = await hooked(t);
      receiver.answer((response) => void response.writeHead(202).end("thanks"));
      const one = await hook(t);
      await reaches(t, endpoint, one.at);
      const two = await hook(t);
      await reaches(t, endpoint, two.at);
      await settle(t, endpoint);
      const attempts = rowsOf(t.answered(await t.get(`${endpoint.path}/attempts?limit=100`), 200));
      t.is(
        attempts.map(({ webhookId }) => webhookId),
        receiver.deliveries.map(({ headers }) => headers["webhook-id"]).reverse(),
        "the webhook-id of each request",
      );
      // The last request was the test.
      const last = receiver.deliveries.at(-2);
      t.fits(
        attempts[1],
        {
          object: "webhook_attempt",
          id: someText,
          kind: "delivery",
          from: last?.events[0]?.syncId ?? 0,
          to: last?.events.at(-1)?.syncId ?? 0,
          events: last?.events.length ?? 0,
          attempt: 1,
          outcome: "succeeded",
          status: 202,
          error: null,
          response: "thanks",
          startedAt: time,
          durationMs: position,
        },
        "the newest delivery",
      );
      const page = t.answered(await t.get(`${endpoint.path}/attempts?limit=1`), 200, {
        has_more: true,
        next_cursor: someText,
      });
      const next = await t.get(`${endpoint.path}/attempts?limit=1&starting_after=${page.body.next_cursor}`);
      t.is(
        [...rowsOf(page), ...rowsOf(next)].map(({ id }) => id),
        attempts.slice(0, 2).map(({ id }) => id),
        "ids over two pages",
      );
    }),
    check("[W18] A test sends one signed event of its own and does not move the cursor.", async (t) => {
      const { receiver, endpoint } = await hooked(t);
      await settle(t, endpoint);
      const cursor = Number((await t.get(endpoint.path)).body.cursor);
      receiver.answer((response) => void response.writeHead(201).end("hello"));
      const { body } = t.answered(await t.post(`${endpoint.path}/test`), 201, {
        object: "webhook_attempt",
        kind: "test",
        webhookId: new RegExp(`^msg_${endpoint.id}_test_.+`),
        from: null,
        to: null,
        events: 1,
        attempt: 0,
        outcome: "succeeded",
        status: 201,
        error: null,
        response: "hello",
      });
      const delivery = await receiver.until("the test", (all) =>
        all.find(({ headers }) => headers["webhook-id"] === body.webhookId),
      );
      t.fits(
        delivery.events,
        [
          {
            type: "webhook_endpoint.test",
            model: "webhook_endpoint",
            objectId: endpoint.id,
            data: { message: someText },
            syncId: cursor,
            id: String(cursor),
            createdAt: time,
          },
        ],
        "the event",
      );
      t.is(signatureOf(endpoint.secret, delivery), 0, "the place of the signature");
      receiver.answer((response) => void response.writeHead(500).end("no"));
      t.answered(await t.post(`${endpoint.path}/test`), 201, {
        outcome: "failed",
        status: 500,
        error: { code: "unexpected_status" },
        response: "no",
      });
      t.answered(await t.get(endpoint.path), 200, { cursor, attempt: 0, status: "disabled", nextAttemptAt: null });
    }),
    check("[W18] A test during a delivery is 409 endpoint_busy: the server sends one request at a time.", async (t) => {
      const { receiver, endpoint } = await hooked(t);
      receiver.answer((response) => void setTimeout(() => response.writeHead(200).end(), 1_000));
      const { id, at } = await hook(t);
      await deliveryOf(receiver, id);
      t.refused(await t.post(`${endpoint.path}/test`), "endpoint_busy");
      await reaches(t, endpoint, at);
      t.is(receiver.most, 1, "most requests at one time");
    }),
  ],
};
