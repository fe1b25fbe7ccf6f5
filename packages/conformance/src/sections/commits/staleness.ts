import { absent, atLeast, exactly, oneOf, row, sameSet, someText } from "../../assertions/pattern.ts";
import { NOTE, WHOLE } from "../../environment/models.ts";
import type { CreatedRecord, Kit } from "../../kit/kit.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import { noticesOf, positionOf } from "../../protocol/answers.ts";

/** A note that another client changed after it was read at `at`. */
async function moved(t: Kit, theirs: object = { title: "theirs" }): Promise<CreatedRecord & { now: number }> {
  const made = await t.note({ title: "one", body: "one" });
  const answer = t.answered(await t.patch(made.path, { data: theirs }), 200, { status: "confirmed" });
  return { ...made, now: positionOf(answer) };
}

export const section: SuiteSection = {
  title: "Stale writes",
  cases: [
    check("[S1] Without readAt nothing is stale.", async (t) => {
      const { path } = await moved(t);
      t.answered(await t.patch(path, { data: { title: "mine" } }), 200, { status: "confirmed" });
      t.answered(await t.get(path), 200, { data: { title: "mine" } });
    }),
    check("[S1] A readAt beyond the head is 400 read_at_in_future.", async (t) => {
      const { id, path } = await t.note();
      const readAt = 2 ** 52;
      t.refused(await t.patch(path, { data: { title: "x" }, readAt }), "read_at_in_future");
      t.refused(await t.remove(path, { json: { readAt } }), "read_at_in_future");
      const other = { action: "create", model: NOTE, id: t.id(), data: {} };
      t.refused(await t.commit([other], { reads: [{ model: NOTE, id, readAt }] }), "read_at_in_future");
    }),
    check("[S2] A write based on the newest position is fresh.", async (t) => {
      const { path, now } = await moved(t);
      t.answered(await t.patch(path, { data: { title: "mine" }, readAt: now }), 200, { status: "confirmed" });
    }),
    check(
      "[S2] A newer entry that touched a written field makes the write stale: 409 stale_context, and nothing is written.",
      async (t) => {
        const { id, path, at, now } = await moved(t);
        t.refused(await t.patch(path, { data: { title: "mine" }, readAt: at }), "stale_context", {
          body: { receipt: { status: "rejected", success: false, error: { code: "stale_context" } } },
        });
        t.answered(await t.get(path), 200, { data: { title: "theirs" }, syncId: now });
        t.is((await t.entries(now, [id])).length, 0, "entries after theirs");
      },
    ),
    check("onStale null means reject, which is the default.", async (t) => {
      const { path, at } = await moved(t);
      for (const onStale of ["reject", null])
        t.refused(await t.patch(path, { data: { title: "mine" }, readAt: at, onStale }), "stale_context");
    }),
    check("[S2] A newer entry that touched other fields does not make the write stale.", async (t) => {
      const { path, at } = await moved(t, { body: "theirs" });
      t.answered(await t.patch(path, { data: { title: "mine" }, readAt: at }), 200, { status: "confirmed" });
      t.answered(await t.get(path), 200, { data: { title: "mine", body: "theirs" } });
    }),
    check("[S3] A field that already has the written value does not conflict.", async (t) => {
      const { path, at } = await moved(t, { title: "same", body: "theirs" });
      const answer = await t.patch(path, { data: { title: "same", order: 4 }, readAt: at });
      t.answered(answer, 200, { status: "confirmed" });
      t.answered(await t.get(path), 200, { data: { title: "same", body: "theirs", order: 4 } });
    }),
    check('[S4] In a model with conflict "record" any newer entry makes a write stale.', async (t) => {
      const id = t.id();
      const path = `/v1/models/${WHOLE}/${id}`;
      const created = t.answered(await t.post(`/v1/models/${WHOLE}`, { id, data: { left: "l", right: "r" } }), 200);
      t.answered(await t.patch(path, { data: { left: "theirs" } }), 200);
      const write = { data: { right: "mine" }, readAt: positionOf(created) };
      t.refused(await t.patch(path, write), "stale_context");
      t.answered(await t.patch(path, { ...write, onStale: "overwrite" }), 200, { status: "confirmed" });
      t.answered(await t.get(path), 200, { data: { left: "theirs", right: "mine" } });
    }),
    ...checkEach(
      ["archive", "unarchive", "delete"],
      (action) => `[S5] A newer entry of any field makes ${action} stale.`,
      async (t, action) => {
        const { path, at } = await t.note();
        if (action === "unarchive") t.answered(await t.post(`${path}/archive`), 200);
        t.answered(await t.patch(path, { data: { order: 9 } }), 200);
        const body = { readAt: at };
        const write = (more = {}) =>
          action === "delete"
            ? t.remove(path, { json: { ...body, ...more } })
            : t.post(`${path}/${action}`, { ...body, ...more });
        t.refused(await write(), "stale_context");
        t.answered(await write({ onStale: "notify" }), 200, { status: "rejected" });
        t.answered(await write({ onStale: "overwrite" }), 200, { status: "confirmed", missingIds: absent });
      },
    ),
    check("[S2] A newer archive or unarchive makes every update stale.", async (t) => {
      const { path, at } = await t.note();
      const archived = t.answered(await t.post(`${path}/archive`), 200);
      t.refused(await t.patch(path, { data: { title: "mine" }, readAt: at }), "stale_context");
      t.answered(await t.post(`${path}/unarchive`), 200);
      t.refused(await t.patch(path, { data: { title: "mine" }, readAt: positionOf(archived) }), "stale_context");
    }),
    check(
      "[S6] An update or an archive of a record that was deleted after readAt is stale, not missing.",
      async (t) => {
        const { id, path, at } = await t.note();
        t.answered(await t.remove(path), 200);
        t.refused(await t.patch(path, { data: { title: "mine" }, readAt: at }), "stale_context");
        t.refused(await t.post(`${path}/archive`, { readAt: at }), "stale_context");
        const held = await t.patch(path, { data: { title: "mine" }, readAt: at, onStale: "notify" });
        t.answered(held, 200, {
          status: "rejected",
          notifications: [{ id, currentValues: exactly({}), conflictingFields: ["title"] }],
        });
        t.answered(await t.patch(path, { data: { title: "mine" } }), 200, { missingIds: [id] });
      },
    ),
    check("[S5] A delete of a missing record is never stale.", async (t) => {
      const { id, path, at } = await t.note();
      t.answered(await t.remove(path), 200);
      t.answered(await t.remove(path, { json: { readAt: at } }), 200, { status: "confirmed", missingIds: [id] });
    }),
    check("An update of a record that was deleted and created again after readAt is stale.", async (t) => {
      const { id, path, at } = await t.note();
      t.answered(await t.remove(path), 200);
      t.answered(await t.post(`/v1/models/${NOTE}`, { id, data: { title: "again" } }), 200);
      t.refused(await t.patch(path, { data: { order: 5 }, readAt: at }), "stale_context");
    }),
    check(
      "[S13] The current values of a receipt have up to 1 MiB: those that do not fit are said to be left out.",
      async (t) => {
        const large = "x".repeat(600_000);
        const records = [await moved(t), await moved(t), await moved(t), await moved(t)] as const;
        const [first, second, third, fourth] = records;
        for (const { path } of [first, second, fourth])
          t.answered(await t.patch(path, { data: { title: large } }), 200);
        const operations = records.map(({ id, at }) => ({
          ...{ action: "update", model: NOTE, id, data: { title: "mine" } },
          ...{ readAt: at, onStale: "notify" },
        }));
        const answer = t.answered(await t.commit(operations), 200, {
          status: "rejected",
          notifications: [
            { id: first.id, currentValues: { title: large }, currentValuesOmitted: absent },
            { id: second.id, conflictingFields: ["title"], currentValues: absent, currentValuesOmitted: true },
            { id: third.id, currentValues: { title: "theirs" }, currentValuesOmitted: absent },
            { id: fourth.id, currentValues: absent, currentValuesOmitted: true },
          ],
        });
        t.that(Buffer.byteLength(answer.text) < 1_048_576 + 16_384, "an answer of 1 MiB", answer.text.length);
      },
    ),
    check("[S9] overwrite replaces the newer value, and the other fields stay.", async (t) => {
      const { path, at } = await moved(t, { title: "theirs", body: "theirs" });
      const write = { data: { title: "mine" }, readAt: at, onStale: "overwrite" };
      t.answered(await t.patch(path, write), 200, { status: "confirmed", success: true, notifications: absent });
      t.answered(await t.get(path), 200, { data: { title: "mine", body: "theirs" } });
    }),
    check(
      "[S9] notify holds the write: 200 with holdfast-held, a rejected receipt with error stale_context, and nothing is written.",
      async (t) => {
        const { id, path, at, now } = await moved(t);
        const held = await t.patch(path, { data: { title: "mine", order: 2 }, readAt: at, onStale: "notify" });
        t.answered(held, 200, {
          object: "commit_receipt",
          success: false,
          status: "rejected",
          lastSyncId: atLeast(now),
          ops: 1,
          error: { code: "stale_context", message: someText },
        });
        t.is(held.headers["holdfast-held"], "true", "holdfast-held");
        t.answered(await t.get(path), 200, { data: { title: "theirs", order: 0 }, syncId: now });
        t.is((await t.entries(now, [id])).length, 0, "entries after theirs");
      },
    ),
    check("A fresh write is not held: no holdfast-held header, no notifications.", async (t) => {
      const { path, now } = await moved(t);
      const answer = await t.patch(path, { data: { title: "mine" }, readAt: now, onStale: "notify" });
      t.answered(answer, 200, { status: "confirmed", notifications: absent, error: absent });
      t.is(answer.headers["holdfast-held"], undefined, "holdfast-held");
    }),
    check(
      "[S12] A notice has the model, the record, the writer, the conflicting fields and the current values.",
      async (t) => {
        const { id, path, at } = await moved(t, { title: "theirs", body: "theirs too" });
        const newest = t.answered(await t.patch(path, { data: { title: "theirs again" } }), 200);
        const held = await t.patch(path, {
          data: { title: "mine", body: "mine", order: 1 },
          readAt: at,
          onStale: "notify",
        });
        t.answered(held, 200, {
          notifications: [
            {
              object: "stale_notification",
              model: NOTE,
              id,
              writtenBy: /^system:.+/,
              group: oneOf(absent, null),
              readAt: at,
              observedSyncId: positionOf(newest),
              conflictingFields: sameSet("title", "body"),
              currentValues: exactly({ title: "theirs again", body: "theirs too" }),
            },
          ],
        });
      },
    ),
    check("The notice of a delete or an archive carries the changed fields and the whole row.", async (t) => {
      const { id, path, at, deckId } = await moved(t);
      const theirs = row({ id, deckId, title: "theirs", body: "one", order: 0 });
      const held = await t.remove(path, { json: { readAt: at, onStale: "notify" } });
      t.answered(held, 200, { notifications: [{ id, conflictingFields: ["title"], currentValues: theirs }] });
      const archive = await t.post(`${path}/archive`, { readAt: at, onStale: "notify" });
      t.answered(archive, 200, { notifications: [{ id, conflictingFields: ["title"], currentValues: theirs }] });
    }),
    check("A batch that is held has a notice for each operation that is stale.", async (t) => {
      const [a, b] = [await moved(t), await moved(t)];
      const held = await t.commit(
        [a, b].map(({ id, at }) => ({
          action: "update",
          model: NOTE,
          id,
          data: { title: "mine" },
          readAt: at,
          onStale: "notify",
        })),
      );
      t.answered(held, 200, { status: "rejected" });
      t.is(
        noticesOf(held).map(({ id }) => id),
        [a.id, b.id],
        "the records of the notices",
      );
    }),
    check(
      "[S7] A client does not conflict with itself: its own entries with the same clientId do not count.",
      async (t) => {
        const { path, at } = await t.note();
        const clientId = `dev_${t.id()}`;
        t.answered(await t.patch(path, { data: { title: "first" }, readAt: at, clientId }), 200);
        t.answered(await t.patch(path, { data: { title: "second" }, readAt: at, clientId }), 200, {
          status: "confirmed",
        });
        t.answered(await t.remove(path, { json: { readAt: at, clientId } }), 200, {
          status: "confirmed",
          missingIds: absent,
        });
      },
    ),
    check("[S7] Another clientId, or none, counts as another device.", async (t) => {
      const { path, at } = await t.note();
      t.answered(await t.patch(path, { data: { title: "first" }, clientId: "conf_a" }), 200);
      t.refused(await t.patch(path, { data: { title: "second" }, readAt: at, clientId: "conf_b" }), "stale_context");
      t.refused(await t.patch(path, { data: { title: "second" }, readAt: at }), "stale_context");
      t.answered(await t.patch(path, { data: { title: "third" } }), 200);
      t.refused(await t.patch(path, { data: { title: "fourth" }, readAt: at, clientId: "conf_a" }), "stale_context");
    }),
    check("[S2] Two updates of one field with the same readAt: one is confirmed, the other is stale.", async (t) => {
      const { path, at } = await t.note();
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, i) => t.patch(path, { data: { title: `mine ${i}` }, readAt: at })),
      );
      t.is(answers.map(({ status }) => status).sort(), [200, 409, 409, 409, 409, 409, 409, 409], "the statuses");
    }),
  ],
};
