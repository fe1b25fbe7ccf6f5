import { exactly, row } from "../../assertions/pattern.ts";
import { HOOK } from "../../environment/models.ts";
import { check, type SuiteSection } from "../../kit/section.ts";
import { deliveryOf, eventsOf, hook, hooked } from "../../kit/webhook-kit.ts";

export const section: SuiteSection = {
  title: "Webhook events",
  cases: [
    check(
      "[W5] Each change is one event: its type with the model in lower case, the model as declared, the row after it (null on a delete), and the log's position and time.",
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
        const changed = { id, deckId, title: "two", order: 0 };
        const verbs = [
          ["created", row({ ...changed, title: "one" })],
          ["updated", row(changed)],
          ["archived", row(changed)],
          ["unarchived", row(changed)],
          ["deleted", null],
        ] as const;
        t.fits(
          events,
          verbs.map(([verb, data], i) => ({
            type: `confhook.${verb}`,
            model: HOOK,
            objectId: id,
            data,
            syncId: Number(entries[i]?.syncId),
            id: String(entries[i]?.syncId),
            createdAt: String(entries[i]?.createdAt),
          })),
          "the events",
        );
      },
    ),
    check("Values arrive as they were written.", async (t) => {
      const { receiver } = await hooked(t);
      const extra = { z: [1, 0.1, -0.5e-7, 9007199254740991, true, null, '\u2028é😀\\"'], a: {}, " ": "" };
      const { id } = await hook(t, { extra, title: "" });
      await deliveryOf(receiver, id);
      const [event] = eventsOf(receiver.deliveries, id);
      t.fits(event?.data, { extra: exactly(extra), title: "" }, "the row");
      t.is(Object.keys((event?.data?.extra ?? {}) as object), ["z", "a", " "], "the order of the keys");
    }),
    check("The server sends only changes of subscribed models; * is every model.", async (t) => {
      const { receiver: some } = await hooked(t);
      const { receiver: all } = await hooked(t, { enabledEvents: ["*"] });
      const note = await t.note();
      const { id } = await hook(t);
      await deliveryOf(all, id);
      await deliveryOf(some, id);
      t.is(
        eventsOf(all.deliveries, note.id, id).map(({ type }) => type),
        ["confnote.created", "confhook.created"],
        "the types for *",
      );
      t.that(
        some.deliveries.every(({ events }) => events.every(({ model }) => model === HOOK)),
        "one model only",
        some.deliveries.map(({ events }) => events.map(({ model }) => model)),
      );
    }),
    check("The server does not send changes of the organization's other tenant.", async (t) => {
      const token = t.otherKey();
      const { receiver } = await hooked(t, { enabledEvents: ["*"] });
      const other = await hook(t, {}, { token });
      const { id } = await hook(t);
      await deliveryOf(receiver, id);
      t.is(eventsOf(receiver.deliveries, other.id), [], "events of the other tenant");
    }),
    check("[W5] Claims make no event.", async (t) => {
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
  ],
};
