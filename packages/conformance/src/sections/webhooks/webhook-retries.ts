import { setTimeout as pause } from "node:timers/promises";
import { atLeast, oneOf, someText, time } from "../../assertions/pattern.ts";
import type { Kit } from "../../kit/kit.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import {
  carries,
  deliveryOf,
  type Endpoint,
  eventsOf,
  eventually,
  hook,
  hooked,
  reaches,
  receiving,
} from "../../kit/webhook-kit.ts";
import { type Row, rowsOf } from "../../protocol/answers.ts";
import { signatureOf } from "../../protocol/webhook-signature.ts";
import type { Delivery, Receiver, Responder } from "../../transport/receiver.ts";

/** The second attempt begins this long after the end of the first, or up to a tenth later. */
const DELAY_MS = 5_000;
const LATEST_MS = 5_500;
/** How much a loaded machine may add. */
const SLACK_MS = 1_500;

const failing: Responder = (response) => void response.writeHead(500).end("not now");
const idOf = ({ headers }: Delivery) => headers["webhook-id"];

/** The endpoint once its first attempt has failed. */
const failed = (t: Kit, { path }: Endpoint) =>
  eventually(
    () => t.get(path),
    "a failed attempt",
    ({ lastError, attempt }) => lastError !== null && Number(attempt) >= 1,
  );

/** Two requests that carry a record's change, the second one being the retry. */
const twice = (receiver: Receiver, id: string): Promise<readonly [Delivery, Delivery]> =>
  receiver.until("the same event twice", (all) => {
    const [first, second] = all.filter(carries(id));
    return first && second ? [first, second] : undefined;
  });

/** Answers this way to a request with a change of this record, and with 200 to all others: other cases write too. */
const only =
  (id: string, answering: Responder): Responder =>
  (response, delivery) =>
    carries(id)(delivery) ? answering(response, delivery) : void response.writeHead(200).end();

/** An endpoint whose first attempt to deliver a change of this record has failed. */
async function stuck(t: Kit, answering: Responder = failing) {
  const { receiver, endpoint } = await hooked(t);
  const id = t.id();
  receiver.answer(only(id, answering));
  const made = await hook(t, {}, {}, id);
  const first = await deliveryOf(receiver, id);
  const { body } = await failed(t, endpoint);
  return { receiver, endpoint, made, first, body };
}

/** The cases that wait for a retry come first, so that they wait at the same time. */
export const section: SuiteSection = {
  title: "Webhook retries",
  together: 6,
  cases: [
    check(
      "[W6] [W10] The server retries a failed delivery 5 s after the failure: the same webhook-id and bytes, a newer timestamp, a new signature.",
      async (t) => {
        const { receiver, endpoint, made } = await stuck(t);
        const [first, second] = await twice(receiver, made.id);
        t.is(idOf(second), idOf(first), "webhook-id of the retry");
        t.that(second.raw.equals(first.raw), "the same bytes", second.raw.toString("utf8"));
        const [then, later] = [first, second].map(({ headers }) => Number(headers["webhook-timestamp"]));
        t.fits(later, atLeast(Number(then) + 4), "the timestamp of the retry");
        for (const one of [first, second]) t.is(signatureOf(endpoint.secret, one), 0, "the place of the signature");
        const waited = second.beganAt - Number(first.answeredAt);
        t.that(
          waited >= DELAY_MS - 50 && waited <= LATEST_MS + SLACK_MS,
          `${DELAY_MS} to ${LATEST_MS} ms between the failure and the retry`,
          Math.round(waited),
        );
      },
    ),
    check("[W12] Events that arrive while a batch fails wait behind it: the retry has the same events.", async (t) => {
      const { receiver, endpoint, made, first } = await stuck(t);
      const later = [await hook(t), await hook(t)];
      receiver.answer((response) => void response.writeHead(200).end());
      const [, second] = await twice(receiver, made.id);
      t.is([idOf(second), second.raw.toString("utf8")], [idOf(first), first.raw.toString("utf8")], "the retry");
      await reaches(t, endpoint, Number(later[1]?.at));
      const ids = [made, ...later].map(({ id }) => id);
      t.is(
        eventsOf(receiver.deliveries, ...ids).map(({ objectId }) => objectId),
        [ids[0], ...ids],
        "the records, the first one twice",
      );
      const behind = receiver.deliveries.filter(carries(String(ids[1]))).map(idOf);
      t.that(!behind.includes(idOf(first)), "another webhook-id for the events behind it", behind);
    }),
    check("A success resets the number of attempts; the last error stays readable.", async (t) => {
      const { receiver, endpoint, made } = await stuck(t);
      receiver.answer((response) => void response.writeHead(200).end());
      const { body } = await reaches(t, endpoint, made.at);
      t.fits(
        body,
        // The next delivery may be under way: others write too.
        { attempt: oneOf(0, 1), nextAttemptAt: null, lastError: { code: "unexpected_status" }, lastSuccessAt: time },
        "the endpoint",
      );
      const attempts = rowsOf(await t.get(`${endpoint.path}/attempts`));
      const own = attempts.filter(({ to, from }) => Number(from) <= made.at && Number(to) >= made.at);
      t.is(
        own.map(({ outcome, attempt }) => [outcome, attempt]),
        [
          ["succeeded", 2],
          ["failed", 1],
        ],
        "attempts at that event",
      );
    }),
    check("[W16] A disabled or removed endpoint gets no retry.", async (t) => {
      const [one, other] = await Promise.all([stuck(t), stuck(t)]);
      t.answered(await t.post(`${one.endpoint.path}/disable`), 201, { status: "disabled", nextAttemptAt: null });
      t.answered(await t.remove(other.endpoint.path), 200);
      await pause(LATEST_MS + 500);
      for (const { receiver, made } of [one, other])
        t.is(receiver.deliveries.filter(carries(made.id)).length, 1, "requests with that event");
    }),
    check("If the secret is rolled while a batch fails, the new and the old secret sign the retry.", async (t) => {
      const { receiver, endpoint, made } = await stuck(t);
      const rolled = t.answered(await t.post(`${endpoint.path}/roll_secret`), 201, { secret: /^whsec_/ });
      const [first, second] = await twice(receiver, made.id);
      t.is(idOf(second), idOf(first), "webhook-id of the retry");
      const secrets = [endpoint.secret, String(rolled.body.secret)];
      t.is(secrets.map((secret) => signatureOf(secret, second)).sort(), [0, 1], "places of the two signatures");
      t.is(
        secrets.map((secret) => signatureOf(secret, first)),
        [0, -1],
        "the same of the first attempt",
      );
    }),
    check(
      "A failed attempt does not move the cursor; the endpoint shows the error and the time of the next attempt.",
      async (t) => {
        const { endpoint, made, first, body } = await stuck(t);
        const [from, to] = [first.events[0]?.syncId ?? 0, first.events.at(-1)?.syncId ?? 0];
        t.fits(
          body,
          {
            status: "enabled",
            attempt: 1,
            nextAttemptAt: time,
            lastError: { code: "unexpected_status", status: 500, from, to, at: time, message: someText },
            lag: atLeast(1),
          },
          "the endpoint",
        );
        t.that(Number(body.cursor) < made.at, "a cursor before the event", body.cursor);
        const { at } = body.lastError as { at: string };
        const wait = Date.parse(String(body.nextAttemptAt)) - Date.parse(at);
        t.that(wait >= DELAY_MS - 50 && wait <= LATEST_MS + 50, `${DELAY_MS} to ${LATEST_MS} ms to the next`, wait);
        const attempts = rowsOf(t.answered(await t.get(`${endpoint.path}/attempts`), 200));
        t.fits(
          attempts[0],
          {
            kind: "delivery",
            outcome: "failed",
            status: 500,
            attempt: 1,
            webhookId: String(idOf(first)),
            error: { code: "unexpected_status", message: someText },
            response: "not now",
          },
          "the attempt",
        );
      },
    ),
    ...checkEach(
      [400, 404, 410, 418, 429, 503],
      (status) => `A response of ${status} is a failure.`,
      async (t, status) => {
        const { body, made } = await stuck(t, (response) => void response.writeHead(status).end());
        t.fits(
          body,
          { attempt: 1, lastError: { code: "unexpected_status", status }, status: "enabled" },
          "the endpoint",
        );
        t.that(Number(body.cursor) < made.at, "a cursor before the event", body.cursor);
      },
    ),
    ...checkEach(
      [301, 302, 303, 307, 308],
      (status) => `A redirect with ${status} is a failure, and the server does not follow it.`,
      async (t, status) => {
        const elsewhere = await receiving(t);
        const { body, receiver } = await stuck(
          t,
          (response) => void response.writeHead(status, { location: `${elsewhere.url}/redirected` }).end(),
        );
        t.fits(body, { attempt: 1, lastError: { code: "redirected", status } }, "the endpoint");
        t.is(elsewhere.deliveries.length, 0, "requests at the target of the redirect");
        t.that(
          receiver.deliveries.every(({ path }) => path === "/hooks"),
          "requests to its own address only",
        );
      },
    ),
    check("[W15] A connection that breaks before the response is the failure connection_lost.", async (t) => {
      const { body } = await stuck(t, (response) => void response.socket?.resetAndDestroy());
      t.fits(body, { attempt: 1, lastError: { code: "connection_lost", status: null } }, "the endpoint");
    }),
    check("[W15] A response that is not HTTP is the failure invalid_response.", async (t) => {
      const { body } = await stuck(t, (response) => void response.socket?.end("HELLO\r\n\r\n"));
      t.fits(body, { attempt: 1, lastError: { code: "invalid_response", status: null } }, "the endpoint");
    }),
    check("[W15] An address without a listener is the failure connection_refused.", async (t) => {
      const { receiver, endpoint } = await hooked(t);
      receiver.end();
      const made = await hook(t);
      const { body } = await failed(t, endpoint);
      t.fits(body, { attempt: atLeast(1), lastError: { code: "connection_refused", status: null } }, "the endpoint");
      t.that(Number(body.cursor) < made.at, "a cursor before the event", body.cursor);
    }),
    check("The server honors Retry-After between one and two times the delay.", async (t) => {
      const wait = async (seconds: string) => {
        const { body } = await stuck(t, (response) => void response.writeHead(503, { "retry-after": seconds }).end());
        return Date.parse(String(body.nextAttemptAt)) - Date.parse(String((body.lastError as Row).at));
      };
      const [short, between, long] = await Promise.all([wait("1"), wait("8"), wait("3600")]);
      t.that(short >= DELAY_MS - 50 && short <= LATEST_MS + 50, "5 to 5.5 s for Retry-After: 1", short);
      t.that(between >= 7_950 && between <= 8_850, "8 s, later by a tenth at most, for Retry-After: 8", between);
      t.that(long >= 9_950 && long <= 11_050, "10 s, later by a tenth at most, for Retry-After: 3600", long);
    }),
    check("enable starts the pending retry at once.", async (t) => {
      const { receiver, endpoint, made, first } = await stuck(t);
      receiver.answer((response) => void response.writeHead(200).end());
      t.answered(await t.post(`${endpoint.path}/enable`), 201, { status: "enabled" });
      const [, second] = await twice(receiver, made.id);
      const waited = second.beganAt - first.beganAt;
      t.that(waited < DELAY_MS - 500, "a second attempt long before its time", Math.round(waited));
      await reaches(t, endpoint, made.at);
    }),
    check("After a change of the url, the server retries at once with another webhook-id.", async (t) => {
      const { endpoint, made, first } = await stuck(t);
      const other = await receiving(t);
      t.answered(await t.patch(endpoint.path, { url: other.url }), 200);
      const delivery = await deliveryOf(other, made.id);
      t.that(delivery.beganAt - first.beganAt < DELAY_MS - 500, "an attempt long before its time");
      t.that(idOf(delivery) !== idOf(first), "another webhook-id", idOf(delivery));
      await reaches(t, endpoint, made.at);
    }),
    check("skip passes a failing batch: the next delivery begins after it.", async (t) => {
      const { receiver, endpoint, made, first } = await stuck(t);
      const next = await hook(t);
      receiver.answer((response) => void response.writeHead(200).end());
      const to = first.events.at(-1)?.syncId ?? made.at;
      t.answered(await t.post(`${endpoint.path}/skip`, { to }), 201, { cursor: atLeast(to) });
      await reaches(t, endpoint, next.at);
      t.is(receiver.deliveries.filter(carries(made.id)).length, 1, "requests with the skipped event");
      t.is(eventsOf(receiver.deliveries, next.id).length, 1, "events of the change after it");
      const kinds = rowsOf(await t.get(`${endpoint.path}/attempts`)).map(({ kind }) => kind);
      t.that(kinds.includes("skip"), "the skip among the attempts", kinds);
    }),
    check("[W20] While one endpoint fails, another gets its deliveries.", async (t) => {
      const { receiver: slow } = await hooked(t);
      const { receiver: quick, endpoint } = await hooked(t);
      const first = t.id();
      slow.answer(only(first, () => {}));
      await hook(t, {}, {}, first);
      await deliveryOf(slow, first);
      const begun = performance.now();
      const { id, at } = await hook(t);
      await deliveryOf(quick, id, 5_000);
      t.that(performance.now() - begun < 4_000, "a delivery at once", Math.round(performance.now() - begun));
      await reaches(t, endpoint, at);
      t.is(eventsOf(slow.deliveries, id), [], "later events at the endpoint that does not answer");
    }),
  ],
};
