import { NOTE } from "../../environment/models.ts";
import type { Kit } from "../../kit/kit.ts";
import { check, type SuiteSection } from "../../kit/section.ts";
import { idsOf } from "../../protocol/answers.ts";

const notes = `/v1/models/${NOTE}`;

/** A key of one tenant does not find a record of the other. */
async function checkSeparation(t: Kit, token: string): Promise<void> {
  const before = await t.head({ token });
  const { id, path, group } = await t.note({ title: "ours" });
  t.refused(await t.get(path, { token }), "record_not_found");
  t.is(idsOf(await t.get(`${notes}?ids=${id}`, { token })), [], "ids in the other tenant's list");
  t.answered(await t.patch(path, { data: { title: "theirs" } }, { token }), 200, { missingIds: [id] });
  t.answered(await t.remove(path, { token }), 200, { missingIds: [id] });
  t.is((await t.entries(before, [id], { token })).length, 0, "entries in the other tenant's log");
  const snapshot = t.answered(await t.get(`/v1/snapshot?group=${group}`, { token }), 200);
  t.that(!snapshot.text.includes(`"${id}"`), "nothing of it in the other tenant's snapshot");
  t.answered(await t.post(notes, { id, data: { title: "theirs" } }, { token }), 200, { status: "confirmed" });
  t.answered(await t.get(path), 200, { data: { title: "ours" } });
  t.answered(await t.get(path, { token }), 200, { data: { title: "theirs" } });
  t.answered(await t.remove(path, { token }), 200);
}

export const section: SuiteSection = {
  title: "Separate tenants",
  cases: [
    check(
      "[G2] Live and test are two tenants: a record of one is missing in the other, and the same id may be in both.",
      (t) => checkSeparation(t, t.otherKey()),
    ),
    check("[G2] Live and test each have their own log, with its own id.", async (t) => {
      const token = t.otherKey();
      const [own, other] = [await t.get("/v1/log?limit=1"), await t.get("/v1/log?limit=1", { token })];
      t.answered(own, 200);
      t.answered(other, 200);
      t.that(own.body.logId !== other.body.logId, "two different ids", own.body.logId);
    }),
    check("A stream of one tenant gets no entry of the other.", async (t) => {
      const token = t.otherKey();
      const stream = await t.connect({ token });
      const { id } = await t.note();
      const other = t.id();
      const { body } = t.answered(await t.post(notes, { id: other, data: {} }, { token }), 200);
      await stream.reaches(Number(body.lastSyncId));
      const heard = stream.entries.map((entry) => entry.id);
      t.that(heard.includes(other) && !heard.includes(id), "the other tenant's record and not this one's", heard);
    }),
    check("[K3] A token is for one tenant: a live token opens nothing of test.", async (t) => {
      const token = t.otherKey();
      const { id } = await t.capability({ operations: [`${NOTE}.read`], syncGroups: [t.deck().group] });
      t.refused(await t.get(`/v1/capabilities/${id}`, { token }), "capability_not_found");
      const wide = t.answered(await t.post("/v1/capabilities", { wideScope: true }, { token }), 201).body;
      t.after(() => t.remove(`/v1/capabilities/${wide.id}`, { token }));
      const { path } = await t.note();
      t.refused(await t.get(path, { token: String(wide.token) }), "record_not_found");
      const { body } = t.answered(await t.get("/v1/identity"), 200);
      t.answered(await t.get("/v1/identity", { token: String(wide.token) }), 200, { livemode: body.livemode !== true });
    }),
    check("[L8] Concurrent commits of several tenants go to their own logs.", async (t) => {
      const keys = [t.otherKey(), (await t.freshTenant()).key, (await t.freshTenant()).key];
      const before = await Promise.all(keys.map((token) => t.head({ token })));
      const made = Array.from({ length: 60 }, (_, i) => ({ id: t.id(), token: String(keys[i % 3]) }));
      const answers = await Promise.all(made.map(({ id, token }) => t.post(notes, { id, data: {} }, { token })));
      for (const answer of answers) t.answered(answer, 200, { status: "confirmed" });
      for (const [i, token] of keys.entries()) {
        const ids = made.filter((one) => one.token === token).map(({ id }) => id);
        const written = await t.entries(Number(before[i]), undefined, { token });
        const own = written.filter(({ id }) => made.some((one) => one.id === id)).map(({ id }) => id);
        t.is(own.sort(), ids.sort(), "the records of this tenant in its log");
      }
    }),
    check("[G2] Another organization's record is missing in reads, lists, the log and the snapshot.", async (t) =>
      checkSeparation(t, (await t.freshTenant()).key),
    ),
    check("A position of one tenant that is beyond the head of another is 400 read_at_in_future there.", async (t) => {
      const { key: token } = await t.freshTenant();
      const { at } = await t.note();
      const id = t.id();
      t.answered(await t.post(notes, { id, data: {} }, { token }), 200, { lastSyncId: 1 });
      const answer = await t.patch(`${notes}/${id}`, { data: { title: "x" }, readAt: at + 10 }, { token });
      t.refused(answer, "read_at_in_future");
    }),
  ],
};
