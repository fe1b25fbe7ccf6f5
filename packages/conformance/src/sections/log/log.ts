import { absent, orNull, row, sameSet, someText, time } from "../../assertions/pattern.ts";
import { NOTE } from "../../environment/models.ts";
import { check, type SuiteSection } from "../../kit/section.ts";
import { positionOf } from "../../protocol/answers.ts";

const notes = `/v1/models/${NOTE}`;

export const section: SuiteSection = {
  title: "The log",
  cases: [
    check("An entry has every documented field.", async (t) => {
      const [id, clientTxId] = [t.id(), t.id()];
      const body = { id, data: { title: "x" }, clientTxId, clientId: "conf_device" };
      const at = positionOf(t.answered(await t.post(notes, body), 200));
      const [entry] = await t.entries(at - 1, [id]);
      t.fits(
        entry,
        {
          object: "log_entry",
          syncId: at,
          model: NOTE,
          id,
          verb: "created",
          data: row({ id, title: "x", order: 0 }),
          changedFields: null,
          clientTxId,
          clientId: "conf_device",
          transactionId: null,
          actor: someText,
          participantKind: "system",
          claim: null,
          createdAt: time,
          left: absent,
        },
        "the entry",
      );
    }),
    check(
      "The five verbs: data is the row after, null on a delete; changedFields is null except on an update.",
      async (t) => {
        const { id, path, at, deckId } = await t.note({ title: "one" });
        t.answered(await t.patch(path, { data: { title: "two", order: 5, deckId } }), 200);
        t.answered(await t.post(`${path}/archive`), 200);
        t.answered(await t.post(`${path}/unarchive`), 200);
        t.answered(await t.remove(path), 200);
        const after = row({ id, deckId, title: "two", order: 5 });
        t.fits(
          await t.entries(at - 1, [id]),
          [
            { verb: "created", data: row({ id, deckId, title: "one", order: 0 }), changedFields: null },
            { verb: "updated", data: after, changedFields: sameSet("title", "order") },
            { verb: "archived", data: after, changedFields: null },
            { verb: "unarchived", data: after, changedFields: null },
            { verb: "deleted", data: null, changedFields: null },
          ],
          "the entries",
        );
      },
    ),
    check("actor and participantKind are those of the writer; clientId is null when none was sent.", async (t) => {
      const { group, deckId } = t.deck();
      const participantId = t.id();
      const { token } = await t.capability({ participantId, operations: [`${NOTE}.*`], syncGroups: [group] });
      const id = t.id();
      const made = t.answered(await t.post(notes, { id, data: { deckId } }, { token }), 200);
      const [entry] = await t.entries(positionOf(made) - 1, [id]);
      t.fits(entry, { actor: participantId, participantKind: "agent", clientId: null }, "the entry");
    }),
    check("The participant of a secret key is the key's id, of the kind system.", async (t) => {
      const { key: token, keyId } = await t.freshTenant();
      const id = t.id();
      t.answered(await t.post(notes, { id, data: {} }, { token }), 200);
      t.fits(await t.entries(0, [id], { token }), [{ actor: keyId, participantKind: "system" }], "the entry");
    }),
    check(
      "Each operation that changed something has one entry; an operation that changed nothing has none.",
      async (t) => {
        const { id, at } = await t.note({ title: "same" });
        const update = (data: object) => ({ action: "update", model: NOTE, id, data });
        const answer = await t.commit([
          update({ title: "a" }),
          update({ title: "a" }),
          update({ title: "b" }),
          { action: "unarchive", model: NOTE, id },
        ]);
        t.answered(answer, 200, { ops: 4 });
        const entries = await t.entries(at, [id]);
        t.is(
          entries.map(({ data }) => data?.title),
          ["a", "b"],
          "the titles in the log",
        );
        t.is(entries.at(-1)?.syncId, positionOf(answer), "the last position");
      },
    ),
    check("Positions have no gaps and follow commit order, and createdAt never goes back.", async (t) => {
      const before = await t.head();
      const ids = Array.from({ length: 60 }, () => t.id());
      const answers = await Promise.all(
        ids.map((id, i) =>
          i % 10 === 9 ? t.post(notes, { id, data: { colour: 1 } }) : t.post(notes, { id, data: {} }),
        ),
      );
      const acknowledged = answers.filter(({ status }) => status === 200).map(positionOf);
      t.is(acknowledged.length, 54, "acknowledged writes");
      const entries = await t.entries(before);
      const positions = entries.map(({ syncId }) => syncId);
      t.is(
        positions,
        positions.map((_, i) => before + 1 + i),
        "the positions",
      );
      t.that(
        acknowledged.every((at) => positions.includes(at)),
        "every acknowledged position to be in the log",
      );
      const own = entries.filter(({ id }) => ids.includes(id));
      t.is([own.length, new Set(own.map(({ id }) => id)).size], [54, 54], "entries and records of this case");
      for (const [i, answer] of answers.entries())
        if (answer.status === 200)
          t.is(own.find(({ id }) => id === ids[i])?.syncId, positionOf(answer), "the position that the receipt names");
      const times = entries.map(({ createdAt }) => Date.parse(createdAt));
      t.that(
        times.every((at, i) => i === 0 || at >= Number(times[i - 1])),
        "times that never run backwards",
        times,
      );
    }),
    check("A write that was answered before another was sent comes before it in the log.", async (t) => {
      const positions: number[] = [];
      for (let i = 0; i < 10; i++) positions.push((await t.note()).at);
      t.is(
        positions,
        [...positions].sort((a, b) => a - b),
        "the positions",
      );
    }),
    check("The log of a new tenant counts 1, 2, 3.", async (t) => {
      const { key: token } = await t.freshTenant();
      t.is(await t.head({ token }), 0, "the head of the new tenant");
      const positions: number[] = [];
      for (let i = 0; i < 3; i++) positions.push(positionOf(await t.post(notes, { id: t.id(), data: {} }, { token })));
      t.is(positions, [1, 2, 3], "the positions");
    }),
    check("The log's id is the same in receipts, the feed and the snapshot.", async (t) => {
      const made = t.answered(await t.post(notes, { id: t.id(), data: {} }), 200, { logId: /^log_[0-9A-Za-z]{24}$/ });
      const logId = String(made.body.logId);
      t.answered(await t.get("/v1/log?limit=1"), 200, { logId });
      const snapshot = t.answered(await t.get("/v1/snapshot?limit=1"), 200);
      t.fits(JSON.parse(snapshot.text.split("\n")[0] ?? "null"), { logId }, "the first line of the snapshot");
    }),
    check("The log's id is in the identity too.", async (t) => {
      const made = t.answered(await t.post(notes, { id: t.id(), data: {} }), 200, { logId: someText });
      t.answered(await t.get("/v1/identity"), 200, { logId: String(made.body.logId), expiresAt: orNull(time) });
    }),
  ],
};
