import { setTimeout as pause } from "node:timers/promises";
import { absent, atLeast, exactly, oneOf, position, someText, time } from "../../assertions/pattern.ts";
import { HOOK, NOTE } from "../../environment/models.ts";
import type { Kit } from "../../kit/kit.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import {
  carries,
  deliveryOf,
  ENDPOINTS,
  eventsOf,
  eventually,
  hook,
  hooked,
  reaches,
  receiving,
  settle,
} from "../../kit/webhook-kit.ts";
import { idsOf, positionOf, type Row, rowsOf } from "../../protocol/answers.ts";
import { signatureOf, signaturesOf } from "../../protocol/webhook-signature.ts";
import type { Delivery } from "../../transport/receiver.ts";

const MiB = 1024 * 1024;
/** How long nothing has to come, where nothing may come. */
const SILENCE_MS = 700;

const create = (t: Kit, data: Row = {}) => ({ action: "create", model: HOOK, id: t.id(), data });
const syncIds = (deliveries: readonly Delivery[]) =>
  deliveries.flatMap(({ events }) => events.map(({ syncId }) => syncId));
const ascending = (numbers: readonly number[]) => numbers.every((one, i) => i === 0 || one > Number(numbers[i - 1]));

export const section: SuiteSection = {
  title: "Webhook deliveries",
  together: 3,
  cases: [
    check(
      "Each change is one event: its type with the model in lower case, the model as declared, the row after it (null on a delete), and the log's position and time.",
      async (t) => {
        const { receiver } = await hooked(t);
        const { id, path, deckId, at } = await hook(t, { title: "one" });
        t.answered(await t.patch(path, { data: { title: "two" } }), 200);
        t.answered(await t.post(`${path}/archive`), 200);
        t.answered(await t.post(`${path}/unarchive`), 200);
        t.answered(await t.remove(path), 200);
        const events = await receiver.until("five events", (all) => {
          const found = eventsOf(all, id);
          return found.length >= 5 ? found : undefined;
        });
        const entries = await t.entries(at - 1, [id]);
        const row = { id, deckId, title: "two", order: 0 };
        const verbs = [
          ["created", { ...row, title: "one" }],
          ["updated", row],
          ["archived", row],
          ["unarchived", row],
          ["deleted", null],
        ] as const;
        t.is(
          events,
          verbs.map(([verb, data], i) => ({
            type: `confhook.${verb}`,
            model: HOOK,
            objectId: id,
            data,
            syncId: entries[i]?.syncId,
            id: String(entries[i]?.syncId),
            createdAt: entries[i]?.createdAt,
          })),
          "the events",
        );
      },
    ),
    check(
      "A delivery is a POST of {data: [events], logId} in JSON, named by the positions of its first and last event.",
      async (t) => {
        const { receiver, endpoint } = await hooked(t);
        const { id } = await hook(t);
        const delivery = await deliveryOf(receiver, id);
        t.is([delivery.method, delivery.path], ["POST", "/hooks"], "the request");
        const ids = syncIds([delivery]);
        t.fits(
          delivery.headers,
          {
            "content-type": /^application\/json(; ?charset=utf-8)?$/i,
            "content-encoding": absent,
            authorization: absent,
            "webhook-id": new RegExp(`^msg_${endpoint.id}_\\w+_${ids[0]}_${ids.at(-1)}$`),
            "webhook-timestamp": /^\d+$/,
            "webhook-signature": /^v1,[A-Za-z0-9+/]{43}=$/,
          },
          "the headers",
        );
        const body = JSON.parse(delivery.raw.toString("utf8")) as { data: unknown; logId: unknown };
        t.is(Object.keys(body), ["data", "logId"], "keys of the body");
        t.that(typeof body.logId === "string" && body.logId !== "", "the log that the positions count in", body.logId);
        const seconds = Number(delivery.headers["webhook-timestamp"]);
        t.that(Math.abs(Date.now() / 1_000 - seconds) < 60, "a timestamp of now, in seconds", seconds);
      },
    ),
    check("The signature is the HMAC-SHA256 of id, timestamp and raw body, with the secret's bytes.", async (t) => {
      const { receiver, endpoint } = await hooked(t);
      const { id } = await hook(t, { title: 'é 😀 \u2028 "quoted"' });
      const delivery = await deliveryOf(receiver, id);
      t.is(signatureOf(endpoint.secret, delivery), 0, "the place of the signature");
      const raw = Buffer.concat([delivery.raw, Buffer.from(" ")]);
      t.is(signatureOf(endpoint.secret, { ...delivery, raw }), -1, "the same with another body");
      const headers = { ...delivery.headers, "webhook-id": `${delivery.headers["webhook-id"]}0` };
      t.is(signatureOf(endpoint.secret, { ...delivery, headers }), -1, "the same with another id");
    }),
    check("Values arrive as they were written.", async (t) => {
      const { receiver } = await hooked(t);
      const extra = { z: [1, 0.1, -0.5e-7, 9007199254740991, true, null, '\u2028é😀\\"'], a: {}, " ": "" };
      const { id } = await hook(t, { extra, title: "" });
      await deliveryOf(receiver, id);
      const [event] = eventsOf(receiver.deliveries, id);
      t.fits(event?.data, { extra: exactly(extra), title: "" }, "the row");
      t.is(Object.keys((event?.data?.extra ?? {}) as object), ["z", "a", " "], "the order of the keys");
    }),
    check("Batches have 100 events at most, and every event comes once, in the order of the log.", async (t) => {
      const { receiver, endpoint } = await hooked(t);
      t.answered(await t.post(`${endpoint.path}/disable`), 201);
      let last = 0;
      const operations = Array.from({ length: 250 }, () => create(t));
      for (let i = 0; i < 250; i += 100)
        last = positionOf(t.answered(await t.commit(operations.slice(i, i + 100)), 200));
      t.answered(await t.post(`${endpoint.path}/enable`), 201);
      await reaches(t, endpoint, last);
      const { deliveries } = receiver;
      t.that(
        deliveries.every(({ events }) => events.length >= 1 && events.length <= 100),
        "1 to 100 events in each",
        deliveries.map(({ events }) => events.length),
      );
      t.that(ascending(syncIds(deliveries)), "positions that only grow", syncIds(deliveries));
      const ids = operations.map(({ id }) => id);
      t.is(
        eventsOf(deliveries, ...ids).map(({ objectId }) => objectId),
        ids,
        "the records",
      );
      t.that(deliveries.length < 50, "events that waited together to come together", deliveries.length);
    }),
    check("A batch has 1 MiB at most; an event that is larger comes alone.", async (t) => {
      const { receiver, endpoint } = await hooked(t);
      t.answered(await t.post(`${endpoint.path}/disable`), 201);
      const sizes = [300_000, 300_000, 300_000, 300_000, 1_048_400, 10, 10];
      const operations = sizes.map((size) => create(t, { title: "x".repeat(size) }));
      const last = positionOf(t.answered(await t.commit(operations), 200));
      t.answered(await t.post(`${endpoint.path}/enable`), 201);
      await reaches(t, endpoint, last);
      const ids = operations.map(({ id }) => id);
      const { deliveries } = receiver;
      t.is(
        eventsOf(deliveries, ...ids).map(({ objectId, data }) => [objectId, String(data?.title).length]),
        ids.map((id, i) => [id, sizes[i]]),
        "the records and their sizes",
      );
      t.that(
        deliveries.every(({ raw, events }) => raw.length <= MiB || events.length === 1),
        "1 MiB at most where there is more than one event",
        deliveries.map(({ raw, events }) => [raw.length, events.length]),
      );
      const large = deliveries.find(carries(String(ids[4])));
      t.is(large?.events.length, 1, "events beside the large one, and it");
      t.answered(await t.commit(ids.map((id) => ({ action: "delete", model: HOOK, id }))), 200);
    }),
    check("However many write at once: one request at a time, and positions that only grow.", async (t) => {
      const { receiver, endpoint } = await hooked(t);
      receiver.answer((response) => void setTimeout(() => response.writeHead(200).end(), 15));
      const made = await Promise.all(Array.from({ length: 60 }, () => hook(t)));
      await reaches(t, endpoint, Math.max(...made.map(({ at }) => at)));
      const { deliveries } = receiver;
      t.is(receiver.most, 1, "most requests at one time");
      t.that(ascending(syncIds(deliveries)), "positions that only grow", syncIds(deliveries));
      const ids = made.sort((a, b) => a.at - b.at).map(({ id }) => id);
      t.is(
        eventsOf(deliveries, ...ids).map(({ objectId }) => objectId),
        ids,
        "the records",
      );
    }),
    check("Only changes of the models that are subscribed to are sent; * is every model.", async (t) => {
      const { receiver: some } = await hooked(t);
      const { receiver: all } = await hooked(t, { enabledEvents: ["*"] });
      const note = await t.note();
      const { id } = await hook(t);
      await deliveryOf(all, id);
      await deliveryOf(some, id);
      t.is(
        eventsOf(all.deliveries, note.id, id).map(({ type }) => type),
        ["confnote.created", "confhook.created"],
        "types of all",
      );
      t.that(
        some.deliveries.every(({ events }) => events.every(({ model }) => model === HOOK)),
        "one model only",
        some.deliveries.map(({ events }) => events.map(({ model }) => model)),
      );
    }),
    check("The cursor moves over changes that are not subscribed to, and no request is made for them.", async (t) => {
      const { receiver, endpoint } = await hooked(t);
      let last = 0;
      for (let i = 0; i < 5; i++) last = (await t.note()).at;
      await reaches(t, endpoint, last);
      t.that(
        receiver.deliveries.every(({ events }) => events.length > 0 && events.every(({ model }) => model === HOOK)),
        "no request without an event that is subscribed to",
        receiver.deliveries.map(({ raw }) => raw.toString("utf8").slice(0, 100)),
      );
    }),
    check("from: what is behind that position is sent; without it, only what comes later.", async (t) => {
      const early = await hook(t);
      const { receiver: behind } = await hooked(t, { from: early.at - 1 });
      const { receiver: beside } = await hooked(t, { from: early.at });
      const { receiver: later } = await hooked(t);
      const { id } = await hook(t);
      for (const one of [behind, beside, later]) await deliveryOf(one, id);
      const heard = ({ deliveries }: typeof behind) =>
        eventsOf(deliveries, early.id, id).map(({ objectId }) => objectId);
      t.is([heard(behind), heard(beside), heard(later)], [[early.id, id], [id], [id]], "the records that each hears");
    }),
    check("from: 0 is the beginning of the log.", async (t) => {
      const { key: token } = await t.freshTenant();
      const made = [await hook(t, {}, { token }), await hook(t, {}, { token })];
      const { receiver, endpoint } = await hooked(t, { from: 0, enabledEvents: ["*"] }, { token });
      await receiver.until("position 2", (all) => (syncIds(all).length >= 2 ? true : undefined));
      t.is(syncIds(receiver.deliveries), [1, 2], "positions");
      t.is(
        eventsOf(receiver.deliveries, ...made.map(({ id }) => id)).map(({ objectId }) => objectId),
        made.map(({ id }) => id),
        "the records",
      );
      t.answered(
        await eventually(
          () => t.get(endpoint.path, { token }),
          "a cursor at 2",
          (body) => body.cursor === 2,
        ),
        200,
        {
          lag: 0,
        },
      );
    }),
    check("What is written in the organization's other tenant is not sent.", async (t) => {
      const token = t.otherKey();
      const { receiver } = await hooked(t, { enabledEvents: ["*"] });
      const other = await hook(t, {}, { token });
      const { id } = await hook(t);
      await deliveryOf(receiver, id);
      t.is(eventsOf(receiver.deliveries, other.id), [], "events of the other tenant");
    }),
    check("Claims make no event.", async (t) => {
      const { receiver } = await hooked(t);
      const { id, path } = await hook(t);
      t.answered(await t.post(`${path}/claim`), 201);
      t.answered(await t.remove(`${path}/claim`), 200);
      t.answered(await t.patch(path, { data: { title: "two" } }), 200);
      const events = await receiver.until("the update", (all) => {
        const found = eventsOf(all, id);
        return found.length >= 2 ? found : undefined;
      });
      t.is(
        events.map(({ type }) => type),
        ["confhook.created", "confhook.updated"],
        "types of the events",
      );
    }),
    ...checkEach(
      [200, 201, 202, 204, 299],
      (status) => `An answer of ${status} is a success: the cursor moves.`,
      async (t, status) => {
        const { receiver, endpoint } = await hooked(t);
        receiver.answer((response) => void response.writeHead(status).end());
        const { at, id } = await hook(t);
        const moved = await reaches(t, endpoint, at);
        // The next delivery may be under way: others write too.
        t.answered(moved, 200, { attempt: oneOf(0, 1), nextAttemptAt: null, lastError: null, lastSuccessAt: time });
        t.is(receiver.deliveries.filter(carries(id)).length, 1, "requests with that event");
      },
    ),
    check("An answer's status counts though its body never ends: no more than its beginning is read.", async (t) => {
      const { receiver, endpoint } = await hooked(t);
      let broken = false;
      receiver.answer((response) => {
        response.writeHead(200);
        const timer = setInterval(() => response.write("x".repeat(8_192)), 1);
        response.on("close", () => {
          broken = true;
          clearInterval(timer);
        });
      });
      const { at } = await hook(t);
      await reaches(t, endpoint, at);
      t.that(broken, "a connection that the server ended");
      receiver.answer((response) => void response.writeHead(200).end());
    }),
    check("Attempts tell each request, newest first: what was sent, and what came of it.", async (t) => {
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
        "names of the requests",
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
    check("A test sends one event of its own, signed, that moves nothing.", async (t) => {
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
    check("A disabled endpoint gets nothing; enabled again, it gets all from its cursor on.", async (t) => {
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
    check("A removed endpoint gets nothing more.", async (t) => {
      const { receiver, endpoint } = await hooked(t);
      const before = await hook(t);
      await reaches(t, endpoint, before.at);
      t.answered(await t.remove(endpoint.path), 200);
      const after = await hook(t);
      await pause(SILENCE_MS);
      t.is(eventsOf(receiver.deliveries, after.id), [], "events after it was removed");
    }),
    check("After a roll both secrets sign, the new one first or second.", async (t) => {
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
    check("Another address is where the next delivery goes.", async (t) => {
      const { receiver, endpoint } = await hooked(t);
      const other = await receiving(t);
      const before = await hook(t);
      await reaches(t, endpoint, before.at);
      t.answered(await t.patch(endpoint.path, { url: `${other.url}/new?a=b` }), 200, { url: `${other.url}/new?a=b` });
      const after = await hook(t);
      const delivery = await deliveryOf(other, after.id);
      t.is(delivery.path, "/hooks/new?a=b", "the path that was asked");
      t.is(eventsOf(receiver.deliveries, after.id), [], "events at the old address");
      t.is(eventsOf(other.deliveries, before.id), [], "events at the new address that were delivered before");
      const revision = ({ headers }: Delivery) => String(headers["webhook-id"]).split("_").at(-3);
      t.that(
        receiver.deliveries.every((one) => revision(one) !== revision(delivery)),
        "another revision in the request's name",
        delivery.headers["webhook-id"],
      );
    }),
    check("Another subscription holds from the cursor on.", async (t) => {
      const { receiver, endpoint } = await hooked(t);
      const before = await t.note();
      await reaches(t, endpoint, before.at);
      t.answered(await t.patch(endpoint.path, { enabledEvents: [NOTE] }), 200, { enabledEvents: [NOTE] });
      const after = await t.note();
      const { id } = await hook(t);
      await deliveryOf(receiver, after.id);
      t.is(eventsOf(receiver.deliveries, before.id, id), [], "events of what was not subscribed to");
    }),
    check("Deliveries are counted among the tenant's usage.", async (t) => {
      const { key: token } = await t.freshTenant();
      const { endpoint } = await hooked(t, {}, { token });
      const { at } = await hook(t, {}, { token });
      await eventually(
        () => t.get(endpoint.path, { token }),
        `a cursor at ${at}`,
        ({ cursor }) => cursor === at,
      );
      const usage = await eventually(
        () => t.get("/v1/usage", { token }),
        "webhook_deliveries",
        ({ data }) => (data as Row[]).some(({ event_name }) => event_name === "webhook_deliveries"),
      );
      t.is(
        rowsOf(usage).find(({ event_name }) => event_name === "webhook_deliveries")?.count,
        1,
        "deliveries that were counted",
      );
    }),
    check("An endpoint that was removed in the midst of a delivery is gone at once.", async (t) => {
      const { receiver, endpoint } = await hooked(t);
      receiver.answer((response) => void setTimeout(() => response.writeHead(200).end(), 600));
      const { id } = await hook(t);
      await deliveryOf(receiver, id);
      t.answered(await t.remove(endpoint.path), 200, { deleted: true });
      t.refused(await t.get(endpoint.path), "webhook_endpoint_not_found");
      await pause(SILENCE_MS + 600);
      t.is(receiver.deliveries.filter(carries(id)).length, 1, "requests with that event");
      t.that(!idsOf(await t.get(ENDPOINTS)).includes(endpoint.id), "a list without it");
    }),
    check("A test while a delivery is under way is 409 endpoint_busy: one request at a time.", async (t) => {
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
