import type { Entry } from "../../answers.ts";
import { entriesOf, idsOf, positionOf } from "../../answers.ts";
import type { Kit } from "../../kit.ts";
import { NOTE, WHOLE } from "../../models.ts";
import { absent } from "../../pattern.ts";
import { check, type SuiteSection } from "../../section.ts";

const notes = `/v1/models/${NOTE}`;

/** A reader of one deck, and a record in it and one outside, which has something to hide. */
async function reader(t: Kit, operations: readonly string[] = [`${NOTE}.read`]) {
  const { deckId, group } = t.deck();
  const secret = `hidden-${t.id()}`;
  const before = await t.head();
  const inside = await t.note({ deckId, title: "seen" });
  const outside = await t.note({ title: secret });
  const { token } = await t.capability({ operations, syncGroups: [group] });
  const all = (path: string) => t.get(path, { token });
  return { deckId, group, secret, before, inside, outside, token, all };
}

const tale = (entries: readonly Entry[]) =>
  entries.map(({ id, verb, left, data }) => ({ id, verb, left: left === true, title: data?.title }));

export const section: SuiteSection = {
  title: "Scopes of reads",
  cases: [
    check("A record outside the caller's groups is missing: 404, as if it had never been.", async (t) => {
      const { inside, outside, all } = await reader(t);
      t.answered(await all(inside.path), 200, { data: { title: "seen" } });
      const missing = t.refused(await all(outside.path), "record_not_found");
      const never = t.refused(await all(`${notes}/${t.id()}`), "record_not_found");
      const told = ({ body: { request_id: _, ...rest } }: typeof missing) => JSON.stringify(rest);
      t.is(told(missing), told(never), "the two answers, but for request_id");
      t.is((await t.ask("HEAD", outside.path, { token: (await reader(t)).token })).status, 404, "the status of HEAD");
    }),
    check("The history of a record outside the caller's groups is missing too.", async (t) => {
      const { inside, outside, all, secret } = await reader(t);
      t.answered(await all(`${inside.path}/history`), 200, { object: "list" });
      const answer = await all(`${outside.path}/history`);
      t.that(answer.status === 404 || entriesOf(answer).length === 0, "404, or no entries", answer.body);
      t.that(!answer.text.includes(secret), "an answer that tells nothing of it");
    }),
    check("A model that the operations do not name is 403 to a read, or missing.", async (t) => {
      const { all } = await reader(t);
      const id = t.id();
      t.answered(await t.post(`/v1/models/${WHOLE}`, { id, data: { left: "secret" } }), 200);
      const read = await all(`/v1/models/${WHOLE}/${id}`);
      t.that(read.status === 403 || read.status === 404, "403 or 404", read.status);
      const list = await all(`/v1/models/${WHOLE}?ids=${id}`);
      t.that(
        list.status === 403 || (list.status === 200 && idsOf(list).length === 0),
        "403 or an empty list",
        list.body,
      );
    }),
    check("A list holds the records of the caller's groups and no others, also when it names them.", async (t) => {
      const { inside, outside, all, secret } = await reader(t);
      const named = t.answered(await all(`${notes}?ids=${inside.id},${outside.id}`), 200);
      t.is(idsOf(named), [inside.id], "ids");
      const whole = t.answered(await all(`${notes}?limit=100&order_by=title&state=all`), 200, { has_more: false });
      t.is(idsOf(whole), [inside.id], "ids of the whole list");
      t.that(!whole.text.includes(secret), "nothing of the other");
    }),
    check("A filter finds nothing outside the caller's groups.", async (t) => {
      const { outside, all, secret, inside } = await reader(t);
      t.answered(await all(`${notes}?filter[title]=${secret}`), 200, { data: [] });
      t.answered(await all(`${notes}?filter[deckId]=${outside.deckId}`), 200, { data: [] });
      t.is(idsOf(await all(`${notes}?filter[title]=seen`)), [inside.id], "ids of what is inside");
    }),
    check("The feed leaves out what the caller may not see, and its cursor goes past it.", async (t) => {
      const { before, inside, outside, all, secret, token } = await reader(t);
      t.answered(await t.patch(outside.path, { data: { order: 5 } }), 200);
      t.answered(await t.patch(outside.path, { data: { deckId: t.deck().deckId } }), 200);
      t.answered(await t.remove(outside.path), 200);
      t.answered(await t.post(`/v1/models/${WHOLE}`, { id: t.id(), data: { left: secret } }), 200);
      const head = await t.head();
      const entries = await t.entries(before, undefined, { token });
      t.is(
        entries.map(({ id }) => id),
        [inside.id],
        "ids in the feed",
      );
      const page = t.answered(await all(`/v1/log?after=${before}&limit=50`), 200);
      t.that(Number(page.body.next_cursor) >= head, `a next_cursor from ${head}`, page.body.next_cursor);
      t.that(!page.text.includes(secret) && !page.text.includes(outside.id), "nothing of the other");
    }),
    check("Asking the feed or the snapshot for a group out of scope by name shows nothing of it.", async (t) => {
      const { before, outside, all, secret } = await reader(t);
      for (const path of [`/v1/log?after=${before}&group=${outside.group}`, `/v1/snapshot?group=${outside.group}`]) {
        const answer = await all(path);
        t.that(answer.status === 403 || answer.status === 200, "403, or an answer without it", answer.status);
        t.that(!answer.text.includes(secret) && !answer.text.includes(outside.id), "nothing of the other", answer.text);
      }
    }),
    check("The snapshot holds the caller's records and no others.", async (t) => {
      const { inside, outside, all, secret } = await reader(t);
      const answer = t.answered(await all("/v1/snapshot"), 200);
      const ids = answer.text
        .split("\n")
        .filter((line) => line.includes('"data"'))
        .map((line) => (JSON.parse(line) as { id: string }).id);
      t.is(ids, [inside.id], "ids in the snapshot");
      t.that(!answer.text.includes(secret) && !answer.text.includes(outside.id), "nothing of the other");
    }),
    check("The stream tells what the caller may see and nothing else, live and when it catches up.", async (t) => {
      const { before, inside, outside, secret, token } = await reader(t);
      const [live, behind] = [await t.hear({ token }), await t.hear({ token, since: before })];
      t.answered(await t.patch(outside.path, { data: { order: 7 } }), 200);
      t.answered(await t.post(`/v1/models/${WHOLE}`, { id: t.id(), data: { left: secret } }), 200);
      const last = positionOf(t.answered(await t.patch(inside.path, { data: { order: 7 } }), 200));
      await Promise.all([live.reaches(last), behind.reaches(last)]);
      t.is(
        live.entries.map(({ id, syncId }) => [id, syncId]),
        [[inside.id, last]],
        "what the live one heard",
      );
      t.is(
        behind.entries.map(({ id, verb }) => [id, verb]),
        [
          [inside.id, "created"],
          [inside.id, "updated"],
        ],
        "what the other heard",
      );
      const told = JSON.stringify([live.frames, behind.frames]);
      t.that(!told.includes(secret) && !told.includes(outside.id), "no frame that tells of the other");
    }),
    check(
      "Asking the stream for a group out of scope tells nothing of it: an error and close 4403, or silence.",
      async (t) => {
        const { outside, secret, token } = await reader(t);
        const stream = await t.stream();
        stream.send({ frame: "hello", token, groups: [outside.group], since: 0 });
        const write = t.answered(await t.patch(outside.path, { data: { order: 1 } }), 200);
        const ended = await Promise.race([
          stream.closes(4_000).then(({ code }) => code),
          stream.reaches(positionOf(write), 4_000).then(() => 0),
        ]);
        t.that(ended === 4403 || ended === 0, "close 4403, or positions without entries", ended);
        const told = JSON.stringify(stream.frames);
        t.that(!told.includes(secret) && !told.includes(outside.id), "no frame that tells of it", stream.frames);
      },
    ),
    check(
      "A record that leaves a reader's groups is heard as deleted with left: true, in feed and stream; then nothing more.",
      async (t) => {
        const { inside, token, secret } = await reader(t);
        const stream = await t.hear({ token });
        t.answered(await t.patch(inside.path, { data: { deckId: t.deck().deckId, title: secret } }), 200);
        const last = positionOf(t.answered(await t.patch(inside.path, { data: { order: 3 } }), 200));
        await stream.reaches(last);
        const expected = [{ id: inside.id, verb: "deleted", left: true, title: undefined }];
        t.is(tale(stream.entries), expected, "what the stream tells");
        const fed = await t.entries(inside.at, undefined, { token });
        t.is(tale(fed), expected, "what the feed tells");
        t.is([fed[0]?.data, fed[0]?.changedFields ?? null], [null, null], "data and changedFields of the entry");
        t.that(!JSON.stringify([stream.frames, fed]).includes(secret), "nothing of what it became");
        t.refused(await t.get(inside.path, { token }), "record_not_found");
      },
    ),
    check("A record that enters a reader's groups is heard whole, in feed and stream.", async (t) => {
      const { outside, deckId, token } = await reader(t);
      const stream = await t.hear({ token });
      const last = positionOf(t.answered(await t.patch(outside.path, { data: { deckId, title: "now seen" } }), 200));
      await stream.reaches(last);
      for (const entries of [stream.entries, await t.entries(outside.at, undefined, { token })])
        t.fits(
          entries,
          [
            {
              id: outside.id,
              verb: "updated",
              left: absent,
              data: { id: outside.id, deckId, title: "now seen", order: 0 },
            },
          ],
          "what is told",
        );
      t.answered(await t.get(outside.path, { token }), 200, { data: { title: "now seen" } });
    }),
    check(
      "Older entries are judged by the groups that they had: a record that came in later does not bring its past along.",
      async (t) => {
        const { outside, deckId, token, secret, before } = await reader(t);
        t.answered(await t.patch(outside.path, { data: { deckId, title: "now seen" } }), 200);
        const entries = await t.entries(before, [outside.id], { token });
        t.is(
          entries.map(({ verb }) => verb),
          ["updated"],
          "the verbs of the record",
        );
        t.that(!JSON.stringify(entries).includes(secret), "nothing of its past");
      },
    ),
    check("A deletion is told to whom the record was visible, and to nobody else.", async (t) => {
      const { inside, outside, token } = await reader(t);
      const stream = await t.hear({ token });
      t.answered(await t.remove(outside.path), 200);
      const last = positionOf(t.answered(await t.remove(inside.path), 200));
      await stream.reaches(last);
      t.is(
        stream.entries.map(({ id, verb, left }) => [id, verb, left]),
        [[inside.id, "deleted", undefined]],
        "what is told",
      );
    }),
    check("A held write tells the values of a record only to who could read it.", async (t) => {
      const { deckId, group } = t.deck();
      const secret = `hidden-${t.id()}`;
      const { id, path, at } = await t.note({ deckId, title: "seen" });
      const { token } = await t.capability({ operations: [`${NOTE}.*`], syncGroups: [group] });
      t.answered(await t.patch(path, { data: { deckId: t.deck().deckId, title: secret } }), 200);
      const update = { action: "update", model: NOTE, id, data: { title: "mine" }, readAt: at, onStale: "notify" };
      const answer = await t.commit([update], {}, { token });
      t.that(!answer.text.includes(secret), "an answer without the hidden value", answer.text);
      t.refused(answer, "capability_scope_denied");
    }),
    check("A long poll of a scoped token is not answered with what it may not see.", async (t) => {
      const { outside, token } = await reader(t);
      const polling = t.get(`/v1/log?after=${await t.head()}&wait=1500`, { token });
      t.answered(await t.patch(outside.path, { data: { order: 9 } }), 200);
      t.answered(await polling, 200, { data: [] });
    }),
    check("The schema may be read by a scoped token.", async (t) => {
      const { all } = await reader(t);
      t.answered(await all("/v1/schema"), 200, { object: "schema" });
    }),
  ],
};
