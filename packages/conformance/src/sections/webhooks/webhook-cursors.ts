import { atLeast, someText, time } from "../../assertions/pattern.ts";
import { HOOK, NOTE } from "../../environment/models.ts";
import { check, type SuiteSection } from "../../kit/section.ts";
import {
  deliveryOf,
  endpointShape,
  eventsOf,
  eventually,
  hook,
  hooked,
  quiet,
  reaches,
  register,
  stopped,
  syncIds,
} from "../../kit/webhook-kit.ts";
import { positionOf, rowsOf } from "../../protocol/answers.ts";

export const section: SuiteSection = {
  title: "Webhook cursors",
  cases: [
    check("The lag of a disabled endpoint is the head minus its cursor.", async (t) => {
      const { path } = await stopped(t, quiet());
      const cursor = Number((await t.get(path)).body.cursor);
      for (let i = 0; i < 3; i++) await hook(t);
      const before = await t.head();
      const { body } = t.answered(await t.get(path), 200, { cursor });
      const after = await t.head();
      const lag = Number(body.lag);
      t.that(lag >= before - cursor && lag <= after - cursor, `a lag from ${before - cursor}`, lag);
    }),
    check("[W13] skip moves the cursor to a position, and is recorded among the attempts.", async (t) => {
      const { path } = await stopped(t, quiet());
      const cursor = Number((await t.get(path)).body.cursor);
      const [one, two] = [await hook(t), await hook(t)];
      t.answered(await t.post(`${path}/skip`, { to: one.at }), 201, { ...endpointShape, cursor: one.at, attempt: 0 });
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
    check("[W13] skip only moves forward, and never beyond the head.", async (t) => {
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
    check("[W9] If there are no events for the endpoint's models, its cursor follows the head.", async (t) => {
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
    check(
      "[W9] The cursor passes changes that the endpoint does not subscribe to, and the server sends no request for them.",
      async (t) => {
        const { receiver, endpoint } = await hooked(t);
        let last = 0;
        for (let i = 0; i < 5; i++) last = (await t.note()).at;
        await reaches(t, endpoint, last);
        t.that(
          receiver.deliveries.every(({ events }) => events.length > 0 && events.every(({ model }) => model === HOOK)),
          "no request without a subscribed event",
          receiver.deliveries.map(({ raw }) => raw.toString("utf8").slice(0, 100)),
        );
      },
    ),
    check("With from, the server sends the changes after that position; without it, only later changes.", async (t) => {
      const early = await hook(t);
      const { receiver: behind } = await hooked(t, { from: early.at - 1 });
      const { receiver: beside } = await hooked(t, { from: early.at });
      const { receiver: later } = await hooked(t);
      const { id } = await hook(t);
      for (const one of [behind, beside, later]) await deliveryOf(one, id);
      const heard = ({ deliveries }: typeof behind) =>
        eventsOf(deliveries, early.id, id).map(({ objectId }) => objectId);
      t.is(
        [heard(behind), heard(beside), heard(later)],
        [[early.id, id], [id], [id]],
        "the records that each receiver gets",
      );
    }),
    check("[W1] from: 0 is the beginning of the log.", async (t) => {
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
  ],
};
