import { absent, oneOf, time } from "../../assertions/pattern.ts";
import { HOOK } from "../../environment/models.ts";
import type { Kit } from "../../kit/kit.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import { carries, deliveryOf, eventsOf, eventually, hook, hooked, reaches, syncIds } from "../../kit/webhook-kit.ts";
import { positionOf, type Row, rowsOf } from "../../protocol/answers.ts";
import { signatureOf } from "../../protocol/webhook-signature.ts";

const MiB = 1024 * 1024;
const create = (t: Kit, data: Row = {}) => ({ action: "create", model: HOOK, id: t.id(), data });
const ascending = (numbers: readonly number[]) => numbers.every((one, i) => i === 0 || one > Number(numbers[i - 1]));

export const section: SuiteSection = {
  title: "Webhook deliveries",
  cases: [
    check(
      "[W5] [W6] A delivery is a POST of {data: [events], logId} in JSON, named by the positions of its first and last event.",
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
    check(
      "[W7] The signature is the HMAC-SHA256 of id, timestamp and raw body, with the secret's bytes.",
      async (t) => {
        const { receiver, endpoint } = await hooked(t);
        const { id } = await hook(t, { title: 'é 😀 \u2028 "quoted"' });
        const delivery = await deliveryOf(receiver, id);
        t.is(signatureOf(endpoint.secret, delivery), 0, "the place of the signature");
        const raw = Buffer.concat([delivery.raw, Buffer.from(" ")]);
        t.is(signatureOf(endpoint.secret, { ...delivery, raw }), -1, "the same with another body");
        const headers = { ...delivery.headers, "webhook-id": `${delivery.headers["webhook-id"]}0` };
        t.is(signatureOf(endpoint.secret, { ...delivery, headers }), -1, "the same with another id");
      },
    ),
    check("[W5] Batches have 100 events at most, and every event comes once, in the order of the log.", async (t) => {
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
      t.that(deliveries.length < 50, "waiting events to come in few batches", deliveries.length);
    }),
    check("[W5] A batch has 1 MiB at most; an event that is larger comes alone.", async (t) => {
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
      t.is(large?.events.length, 1, "the number of events in the large one's batch");
      t.answered(await t.commit(ids.map((id) => ({ action: "delete", model: HOOK, id }))), 200);
    }),
    check(
      "[W8] During concurrent writes the server sends one request at a time, and positions only grow.",
      async (t) => {
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
      },
    ),
    ...checkEach(
      [200, 201, 202, 204, 299],
      (status) => `A response of ${status} is a success: the cursor moves.`,
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
    check("The status counts even if the response body never ends: the server reads only its beginning.", async (t) => {
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
    check("[W22] The tenant's usage counts deliveries.", async (t) => {
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
        "the count of deliveries",
      );
    }),
  ],
};
