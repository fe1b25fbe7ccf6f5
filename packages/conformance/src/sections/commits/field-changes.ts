import { NOTE } from "../../environment/models.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";

const notes = `/v1/models/${NOTE}`;

/** Changes that no note takes, with the code and the place of their refusals. */
const WRONG: readonly (readonly [string, object, string, string])[] = [
  ["of a field that is not declared", { nothing: { increment: 1 } }, "unknown_field", "changes.nothing"],
  ["of the id", { id: { increment: 1 } }, "unknown_field", "changes.id"],
  ["that increments a text", { title: { increment: 1 } }, "invalid_type", "changes.title"],
  ["that adds items to a number", { order: { add: ["a"] } }, "invalid_type", "changes.order"],
  ["that makes an integer a fraction", { count: { increment: 0.5 } }, "invalid_type", "changes.count"],
];

export const section: SuiteSection = {
  title: "Changes of fields",
  cases: [
    check("[C19] An increment adds to the number that is there, and the entry has the sum.", async (t) => {
      const { id, path, at, deckId } = await t.note({ order: 2 });
      t.answered(await t.patch(path, { changes: { order: { increment: 3 } } }), 200, { status: "confirmed" });
      t.answered(await t.patch(path, { changes: { order: { increment: -1 }, count: { increment: 1 } } }), 200);
      const entries = await t.entries(at, [id]);
      t.fits(entries[0], { verb: "updated", data: { id, deckId, order: 5 }, changedFields: ["order"] }, "the first");
      t.fits(entries[1], { data: { order: 4, count: 1 } }, "the second");
    }),
    check("[C19] Items are added once and at the end, and removed wherever they are.", async (t) => {
      const { path } = await t.note({ tags: ["a", "b", "a"] });
      t.answered(await t.patch(path, { changes: { tags: { add: ["c", "b", "c"], remove: ["a"] } } }), 200);
      t.answered(await t.get(path), 200, { data: { tags: ["b", "c"] } });
    }),
    check("[C19] A change never conflicts with what others wrote, whatever it is based on.", async (t) => {
      const { id, path, at } = await t.note({ order: 1, tags: ["a"] });
      t.answered(await t.patch(path, { data: { order: 10, tags: ["b"] } }), 200);
      const changes = { order: { increment: 1 }, tags: { add: ["c"] } };
      t.answered(await t.patch(path, { changes, readAt: at }), 200, { status: "confirmed" });
      t.answered(await t.commit([{ action: "update", model: NOTE, id, changes, readAt: at }]), 200, {
        status: "confirmed",
      });
      t.answered(await t.get(path), 200, { data: { order: 12, tags: ["b", "c"] } });
    }),
    check("[C19] [C27] A value conflicts with a change of the same field.", async (t) => {
      const { path, at } = await t.note({ order: 1 });
      t.answered(await t.patch(path, { changes: { order: { increment: 1 } } }), 200);
      t.refused(await t.patch(path, { data: { order: 7 }, readAt: at }), "stale_context");
    }),
    check("[C19] Values and changes of different fields go in one update.", async (t) => {
      const { path } = await t.note({ title: "one", order: 1 });
      t.answered(await t.patch(path, { data: { title: "two" }, changes: { order: { increment: 1 } } }), 200);
      t.answered(await t.get(path), 200, { data: { title: "two", order: 2 } });
    }),
    check("[C19] [C3] Changes of one record in a batch add up.", async (t) => {
      const { id, path } = await t.note();
      const operation = { action: "update", model: NOTE, id, changes: { order: { increment: 2 } } };
      t.answered(await t.commit([operation, operation, operation]), 200, { status: "confirmed" });
      t.answered(await t.get(path), 200, { data: { order: 6 } });
    }),
    check("[C19] [I1] A change that is sent again under its key counts once.", async (t) => {
      const { path } = await t.note();
      const body = { changes: { order: { increment: 1 } }, idempotencyKey: t.id() };
      t.answered(await t.patch(path, body), 200);
      t.answered(await t.patch(path, body), 200);
      t.answered(await t.get(path), 200, { data: { order: 1 } });
    }),
    check("[C6] [C19] A change that changes nothing is confirmed and adds no entry.", async (t) => {
      const { id, path, at } = await t.note({ tags: ["a"] });
      for (const change of [
        { order: { increment: 0 } },
        { tags: { add: ["a"] } },
        { tags: { remove: ["b"], add: [] } },
        { tags: {} },
      ])
        t.answered(await t.patch(path, { changes: change }), 200, { status: "confirmed" });
      t.is((await t.entries(at, [id])).length, 0, "entries");
    }),
    ...checkEach(
      WRONG.map((wrong) => wrong[0]),
      (what) => `[C19] [C29] A change ${what} is refused.`,
      async (t, what) => {
        const [, changes, code, param] = WRONG.find((wrong) => wrong[0] === what) as (typeof WRONG)[number];
        const { path, id } = await t.note();
        t.answered(await t.patch(path, { changes }), 400, { code, param });
        const operation = { action: "update", model: NOTE, id, changes };
        t.answered(await t.commit([operation]), 400, { code, param: `operations[0].${param}` });
      },
    ),
    check("[C19] A field has a value or a change, not both; creates and deletions have no changes.", async (t) => {
      const { path } = await t.note();
      const changes = { order: { increment: 1 } };
      const both = await t.patch(path, { data: { order: 1 }, changes });
      t.answered(both, 400, { code: "invalid_value", param: "changes.order" });
      const create = await t.commit([{ action: "create", model: NOTE, id: t.id(), data: {}, changes }]);
      t.answered(create, 400, { code: "unknown_field", param: "operations[0].changes" });
      t.answered(await t.post(notes, { id: t.id(), data: {}, changes }), 400, { type: "validation_error" });
    }),
    check("[C19] [C29] A sum that is no number of the field's is refused, and nothing is written.", async (t) => {
      const most = 9_007_199_254_740_991;
      const greatest = Number.MAX_VALUE;
      const { path } = await t.note({ count: most, order: -greatest });
      const beyond = await t.patch(path, { changes: { count: { increment: 1 } } });
      t.answered(beyond, 400, { code: "invalid_value", param: "changes.count" });
      const below = await t.patch(path, { data: { title: "two" }, changes: { order: { increment: -greatest } } });
      t.answered(below, 400, { code: "invalid_value", param: "changes.order" });
      t.answered(await t.get(path), 200, { data: { count: most, order: -greatest, title: "one" } });
    }),
    check(
      "[C19] [C30] A change has up to 1 000 texts, numbers or booleans to add, and as many to remove.",
      async (t) => {
        const { path } = await t.note();
        const items = Array.from({ length: 1_000 }, (_, at) => at);
        t.answered(await t.patch(path, { changes: { tags: { add: items, remove: items } } }), 200);
        for (const add of [[...items, 1_000], [null], [{}], [[]], "a"]) {
          const answer = await t.patch(path, { changes: { tags: { add } } });
          t.answered(answer, 400, { type: "validation_error" });
        }
        for (const change of [
          { increment: "1" },
          { increment: null },
          { increment: 1, add: ["a"] },
          { other: 1 },
          1,
          null,
        ])
          t.answered(await t.patch(path, { changes: { order: change } }), 400, { type: "validation_error" });
      },
    ),
    check("[C5] [C19] A change of a missing record writes nothing.", async (t) => {
      const id = t.id();
      const answer = await t.patch(`${notes}/${id}`, { changes: { order: { increment: 1 } } });
      t.answered(answer, 200, { status: "confirmed", missingIds: [id] });
      t.refused(await t.get(`${notes}/${id}`), "record_not_found");
    }),
  ],
};
