import { exactly } from "../../assertions/pattern.ts";
import { NOTE } from "../../environment/models.ts";
import type { Kit } from "../../kit/kit.ts";
import { check, type SuiteSection } from "../../kit/section.ts";
import { noticesOf, positionOf } from "../../protocol/answers.ts";

const notes = `/v1/models/${NOTE}`;

/** Commits a new note under premises. */
async function under(t: Kit, ...reads: readonly object[]) {
  const id = t.id();
  const answer = await t.commit([{ action: "create", model: NOTE, id, data: { deckId: t.id() } }], { reads });
  return { answer, path: `${notes}/${id}`, id };
}

export const section: SuiteSection = {
  title: "Premises of a batch (reads)",
  cases: [
    check("[S10] A premise on a record that has not moved lets the batch through.", async (t) => {
      const { id, at } = await t.note();
      const { answer, path } = await under(t, { model: NOTE, id, readAt: at });
      t.answered(answer, 200, { status: "confirmed" });
      t.answered(await t.get(path), 200);
    }),
    check("[S10] A premise on a record that moved refuses the whole batch: 409 stale_context.", async (t) => {
      const { id, path, at } = await t.note();
      t.answered(await t.patch(path, { data: { title: "theirs" } }), 200);
      const { answer, path: made } = await under(t, { model: NOTE, id, readAt: at });
      t.refused(answer, "stale_context", { param: /^reads\[0\]/ });
      t.refused(await t.get(made), "record_not_found");
    }),
    check("[S10] A premise with fields depends on these fields only.", async (t) => {
      const { id, path, at } = await t.note();
      t.answered(await t.patch(path, { data: { title: "theirs" } }), 200);
      const read = { model: NOTE, id, readAt: at };
      t.answered((await under(t, { ...read, fields: ["body", "order"] })).answer, 200, { status: "confirmed" });
      t.refused((await under(t, { ...read, fields: ["body", "title"] })).answer, "stale_context");
    }),
    check("A deleted record has moved, whatever fields the premise names.", async (t) => {
      const { id, path, at } = await t.note();
      t.answered(await t.remove(path), 200);
      t.refused((await under(t, { model: NOTE, id, readAt: at, fields: ["body"] })).answer, "stale_context");
    }),
    check(
      "[S10] [S11] Any change in a group moves it: a create, an update, a delete, a record that leaves.",
      async (t) => {
        const first = await t.note();
        const { deckId, group } = first;
        const quiet = t.answered((await under(t, { group, readAt: first.at })).answer, 200);
        let readAt = positionOf(quiet);
        const expectMoved = async (what: string) => {
          const { answer } = await under(t, { group, readAt });
          t.that(
            answer.status === 409 && answer.body.code === "stale_context",
            `409 stale_context after ${what}`,
            answer.body,
          );
          readAt = await t.head();
          t.answered((await under(t, { group, readAt })).answer, 200, { status: "confirmed" });
          readAt = await t.head();
        };
        const id = t.id();
        t.answered(await t.post(notes, { id, data: { deckId } }), 200);
        await expectMoved("a create");
        t.answered(await t.patch(`${notes}/${id}`, { data: { title: "x" } }), 200);
        await expectMoved("an update");
        t.answered(await t.remove(`${notes}/${id}`), 200);
        await expectMoved("a delete");
        t.answered(await t.patch(first.path, { data: { deckId: t.id() } }), 200);
        await expectMoved("a record that left");
        const whole = `org:${await t.organization()}`;
        t.refused((await under(t, { group: whole, readAt: first.at })).answer, "stale_context");
      },
    ),
    check("A premise on a group that is empty holds.", async (t) => {
      const { group } = t.deck();
      t.answered((await under(t, { group, readAt: await t.head() })).answer, 200, { status: "confirmed" });
    }),
    check("Changes in other groups do not move a group.", async (t) => {
      const { group, at } = await t.note();
      await t.note();
      t.answered((await under(t, { group, readAt: at })).answer, 200, { status: "confirmed" });
    }),
    check(
      "[S9] [S10] onStale notify of a premise holds the whole batch and notifies the writer of the change.",
      async (t) => {
        const { id, path, at } = await t.note();
        const theirs = t.answered(await t.patch(path, { data: { title: "theirs", order: 2 } }), 200);
        const read = { model: NOTE, id, readAt: at, fields: ["title"], onStale: "notify" };
        const { answer, path: made } = await under(t, read);
        t.answered(answer, 200, {
          status: "rejected",
          success: false,
          notifications: [
            {
              object: "stale_notification",
              model: NOTE,
              id,
              readAt: at,
              observedSyncId: positionOf(theirs),
              conflictingFields: ["title"],
              currentValues: exactly({ title: "theirs" }),
            },
          ],
        });
        t.is(answer.headers["holdfast-held"], "true", "holdfast-held");
        t.refused(await t.get(made), "record_not_found");
      },
    ),
    check("[S9] [S10] onStale overwrite of a premise lets the batch through.", async (t) => {
      const { id, path, at } = await t.note();
      t.answered(await t.patch(path, { data: { title: "theirs" } }), 200);
      const { answer } = await under(t, { model: NOTE, id, readAt: at, onStale: "overwrite" });
      t.answered(answer, 200, { status: "confirmed" });
    }),
    check("The notice of a group names the group and its newest entry, with empty fields and values.", async (t) => {
      const { group, deckId, at } = await t.note();
      const id = t.id();
      const newest = t.answered(await t.post(notes, { id, data: { deckId } }), 200);
      const { answer } = await under(t, { group, readAt: at, onStale: "notify" });
      t.answered(answer, 200, {
        notifications: [
          {
            group,
            model: NOTE,
            id,
            readAt: at,
            observedSyncId: positionOf(newest),
            conflictingFields: [],
            currentValues: exactly({}),
          },
        ],
      });
    }),
    check("Of several premises the strictest policy wins: reject over notify.", async (t) => {
      const { id, path, at } = await t.note();
      t.answered(await t.patch(path, { data: { title: "theirs" } }), 200);
      const read = { model: NOTE, id, readAt: at };
      const { answer } = await under(t, { ...read, onStale: "notify" }, { ...read, onStale: "reject" });
      t.refused(answer, "stale_context", { param: /^reads\[1\]/ });
      t.is(noticesOf(answer).length, 0, "notices of a refusal");
    }),
    check("[S7] A client's own entries do not move its premises.", async (t) => {
      const { id, path, group, at } = await t.note();
      const clientId = `dev_${t.id()}`;
      t.answered(await t.patch(path, { data: { title: "mine" }, clientId }), 200);
      for (const read of [
        { model: NOTE, id, readAt: at },
        { group, readAt: at },
      ]) {
        const operation = { action: "create", model: NOTE, id: t.id(), data: {} };
        t.answered(await t.commit([operation], { reads: [read], clientId }), 200, { status: "confirmed" });
        t.refused(
          await t.commit([{ ...operation, id: t.id() }], { reads: [read], clientId: "other" }),
          "stale_context",
        );
      }
    }),
    check("[H4] A premise needs a record or a group, and a readAt; otherwise it is 400.", async (t) => {
      const { id, group, at } = await t.note();
      for (const [read, param] of [
        [{ model: NOTE, id, group, readAt: at }, "reads[0].group"],
        [{ group, fields: ["title"], readAt: at }, "reads[0].fields"],
        [{ model: NOTE, id: "a b", readAt: at }, "reads[0].id"],
        [{ model: NOTE, readAt: at }, /^reads\[0\]/],
        [{ id, readAt: at }, /^reads\[0\]/],
        [{ model: NOTE, id }, /^reads\[0\]\.readAt$/],
        [{ group }, /^reads\[0\]\.readAt$/],
        [{ readAt: at }, /^reads\[0\]/],
        [{ model: NOTE, id, readAt: at, colour: 1 }, /^reads\[0\]\.colour$/],
      ] as const)
        t.answered((await under(t, read)).answer, 400, { type: "validation_error", param });
      for (const wrong of ["nothing", "Deck:1", "deck:", "deck:a b", ":x"])
        t.refused((await under(t, { group: wrong, readAt: at })).answer, "invalid_sync_group", {
          param: /^reads\[0\]/,
        });
    }),
  ],
};
