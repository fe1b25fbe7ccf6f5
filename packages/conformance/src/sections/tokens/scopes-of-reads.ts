import { absent } from "../../assertions/pattern.ts";
import { NOTE, WHOLE } from "../../environment/models.ts";
import type { Kit } from "../../kit/kit.ts";
import { check, type SuiteSection } from "../../kit/section.ts";
import type { Entry } from "../../protocol/answers.ts";
import { entriesOf, idsOf, positionOf } from "../../protocol/answers.ts";

const notes = `/v1/models/${NOTE}`;

/** A reader of one deck, with a record in it and a record outside that has a secret. */
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

const summaries = (entries: readonly Entry[]) =>
  entries.map(({ id, verb, left, data }) => ({ id, verb, left: left === true, title: data?.title }));

export const section: SuiteSection = {
  title: "Scopes of reads",
  cases: [
    check("[K6] A record outside the caller's groups is missing: 404, as if it did not exist.", async (t) => {
      const { inside, outside, all } = await reader(t);
      t.answered(await all(inside.path), 200, { data: { title: "seen" } });
      const missing = t.refused(await all(outside.path), "record_not_found");
      const never = t.refused(await all(`${notes}/${t.id()}`), "record_not_found");
      const withoutId = ({ body: { request_id: _, ...rest } }: typeof missing) => JSON.stringify(rest);
      t.is(withoutId(missing), withoutId(never), "the two answers, but for request_id");
      t.is((await t.ask("HEAD", outside.path, { token: (await reader(t)).token })).status, 404, "the status of HEAD");
    }),
    check("[K6] The history of a record outside the caller's groups is missing too.", async (t) => {
      const { inside, outside, all, secret } = await reader(t);
      t.answered(await all(`${inside.path}/history`), 200, { object: "list" });
      const answer = await all(`${outside.path}/history`);
      t.that(answer.status === 404 || entriesOf(answer).length === 0, "404, or no entries", answer.body);
      t.that(!answer.text.includes(secret), "an answer without the record's value");
    }),
    check(
      "[K6] [K16] A model that the token's operations do not name is 403 in reads, lists, the feed and the snapshot.",
      async (t) => {
        const { all } = await reader(t);
        const id = t.id();
        t.answered(await t.post(`/v1/models/${WHOLE}`, { id, data: { left: "secret" } }), 200);
        for (const path of [
          `/v1/models/${WHOLE}/${id}`,
          `/v1/models/${WHOLE}?ids=${id}`,
          `/v1/log?model=${WHOLE}`,
          `/v1/snapshot?model=${WHOLE}`,
        ])
          t.refused(await all(path), "capability_scope_denied", {
            param: "model",
            body: { requiredCapability: { can: "read", model: WHOLE, scope: `${WHOLE}.read` } },
          });
      },
    ),
    check(
      "[K6] [K16] A reader that names models and groups gets those that its token covers, and the answer lists the models.",
      async (t) => {
        const { before, inside, outside, group, token, all } = await reader(t);
        const models = `model=${WHOLE}&model=${NOTE}&model=confNotPushedYet`;
        const feed = t.answered(
          await all(`/v1/log?after=${before}&${models}&group=${outside.group}&group=${group}`),
          200,
        );
        t.is([idsOf(feed), feed.body.models], [[inside.id], [NOTE]], "records and models of the feed");
        const snapshot = t.answered(await all(`/v1/snapshot?${models}`), 200);
        t.fits(JSON.parse(snapshot.text.split("\n")[0] ?? "{}"), { models: [NOTE] }, "the first line of the snapshot");
        const stream = await t.connect({ token, models: [WHOLE, NOTE, "confNotPushedYet"] });
        t.fits(stream.frames[0], { models: [NOTE] }, "welcome");
        for (const path of ["/v1/log?model=confNotPushedYet", "/v1/snapshot?model=confNotPushedYet"])
          t.refused(await t.get(path), "unknown_model", { status: 400, param: "model" });
      },
    ),
    check(
      "[K6] A list has the records of the caller's groups and no others, even if the query names others.",
      async (t) => {
        const { deckId, inside, outside, all, secret } = await reader(t);
        const named = t.answered(await all(`${notes}?ids=${inside.id},${outside.id}`), 200);
        t.is(idsOf(named), [inside.id], "ids");
        const whole = t.answered(await all(`${notes}?limit=100&order_by=title&state=all`), 200, { has_more: false });
        await t.note({ deckId });
        const page = t.answered(await all(`${notes}?limit=1`), 200, { has_more: true });
        const cursor = encodeURIComponent(String(page.body.next_cursor));
        t.answered(await all(`${notes}?limit=1&starting_after=${cursor}`), 200, { has_more: false });
        t.refused(await t.get(`${notes}?limit=1&starting_after=${cursor}`), "invalid_cursor");
        t.is(idsOf(whole), [inside.id], "ids of the whole list");
        t.that(!whole.text.includes(secret), "nothing of the other");
      },
    ),
    check("[K6] A filter finds nothing outside the caller's groups.", async (t) => {
      const { outside, all, secret, inside } = await reader(t);
      t.answered(await all(`${notes}?filter[title]=${secret}`), 200, { data: [] });
      t.answered(await all(`${notes}?filter[deckId]=${outside.deckId}`), 200, { data: [] });
      t.is(idsOf(await all(`${notes}?filter[title]=seen`)), [inside.id], "ids of the records inside");
    }),
    check("[K6] The feed leaves out entries that the caller may not see, and its cursor passes them.", async (t) => {
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
    check("[K6] A request to the feed or the snapshot that names only groups outside the scope is 403.", async (t) => {
      const { outside, all } = await reader(t);
      for (const syncGroup of [outside.group, `org:${await t.organization()}`])
        for (const path of [`/v1/log?group=${syncGroup}`, `/v1/snapshot?group=${syncGroup}`])
          t.refused(await all(path), "capability_scope_denied", { body: { requiredCapability: { syncGroup } } });
    }),
    check("[K6] The snapshot has the caller's records and no others.", async (t) => {
      const { inside, outside, all, secret } = await reader(t);
      const answer = t.answered(await all("/v1/snapshot"), 200);
      const ids = answer.text
        .split("\n")
        .filter((line) => line.includes('"data"'))
        .map((line) => (JSON.parse(line) as { id: string }).id);
      t.is(ids, [inside.id], "ids in the snapshot");
      t.that(!answer.text.includes(secret) && !answer.text.includes(outside.id), "nothing of the other");
    }),
    check("[K6] The stream sends only entries that the caller may see, live and during catch-up.", async (t) => {
      const { before, inside, outside, secret, token } = await reader(t);
      const [live, behind] = [await t.connect({ token }), await t.connect({ token, since: before })];
      t.answered(await t.patch(outside.path, { data: { order: 7 } }), 200);
      t.answered(await t.post(`/v1/models/${WHOLE}`, { id: t.id(), data: { left: secret } }), 200);
      const last = positionOf(t.answered(await t.patch(inside.path, { data: { order: 7 } }), 200));
      await Promise.all([live.reaches(last), behind.reaches(last)]);
      t.is(
        live.entries.map(({ id, syncId }) => [id, syncId]),
        [[inside.id, last]],
        "the entries of the live stream",
      );
      t.is(
        behind.entries.map(({ id, verb }) => [id, verb]),
        [
          [inside.id, "created"],
          [inside.id, "updated"],
        ],
        "the entries of the stream that catches up",
      );
      const frames = JSON.stringify([live.frames, behind.frames]);
      t.that(!frames.includes(secret) && !frames.includes(outside.id), "no frame about the other record");
    }),
    check(
      "[K6] A hello with groups or models outside the scope gets an error that names the missing capability, close 4403, and nothing else.",
      async (t) => {
        const { outside, token } = await reader(t);
        for (const [asked, param, lacks] of [
          [{ groups: [outside.group], since: 0 }, "groups", { syncGroup: outside.group }],
          [{ models: [WHOLE] }, "models", { model: WHOLE }],
        ] as const) {
          const stream = await t.stream();
          stream.send({ frame: "hello", token, ...asked });
          t.is((await stream.closes()).code, 4403, "the close code");
          const error = { frame: "error", code: "capability_scope_denied", param };
          t.fits(
            stream.frames,
            [{ ...error, requiredCapability: { can: "read", ...lacks } }],
            "all frames of the stream",
          );
        }
        const stream = await t.connect({ token });
        stream.send({ frame: "follow", groups: [outside.group] });
        t.is((await stream.closes()).code, 4403, "the close code after follow");
      },
    ),
    check(
      "[K7] A record that leaves a reader's groups appears as deleted with left: true, in feed and stream, and then no more.",
      async (t) => {
        const { inside, token, secret } = await reader(t);
        const stream = await t.connect({ token });
        t.answered(await t.patch(inside.path, { data: { deckId: t.deck().deckId, title: secret } }), 200);
        const last = positionOf(t.answered(await t.patch(inside.path, { data: { order: 3 } }), 200));
        await stream.reaches(last);
        const expected = [{ id: inside.id, verb: "deleted", left: true, title: undefined }];
        t.is(summaries(stream.entries), expected, "the entries of the stream");
        const fed = await t.entries(inside.at, undefined, { token });
        t.is(summaries(fed), expected, "the entries of the feed");
        t.is([fed[0]?.data, fed[0]?.changedFields ?? null], [null, null], "data and changedFields of the entry");
        t.that(
          !JSON.stringify([stream.frames, fed]).includes(secret),
          "no value that was written after the record left",
        );
        t.refused(await t.get(inside.path, { token }), "record_not_found");
      },
    ),
    check("[K7] A record that enters a reader's groups appears whole, in feed and stream.", async (t) => {
      const { outside, deckId, token } = await reader(t);
      const stream = await t.connect({ token });
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
          "the entries of the record",
        );
      t.answered(await t.get(outside.path, { token }), 200, { data: { title: "now seen" } });
    }),
    check(
      "[K7] [T7] The groups of an older entry are those that it had: a record that enters later does not show its past.",
      async (t) => {
        const { outside, deckId, token, secret, before } = await reader(t);
        t.answered(await t.patch(outside.path, { data: { deckId, title: "now seen" } }), 200);
        const entries = await t.entries(before, [outside.id], { token });
        t.is(
          entries.map(({ verb }) => verb),
          ["updated"],
          "the verbs of the record",
        );
        t.that(!JSON.stringify(entries).includes(secret), "no value from before");
      },
    ),
    check("[T7] A deletion is sent only to readers who could see the record.", async (t) => {
      const { inside, outside, token } = await reader(t);
      const stream = await t.connect({ token });
      t.answered(await t.remove(outside.path), 200);
      const last = positionOf(t.answered(await t.remove(inside.path), 200));
      await stream.reaches(last);
      t.is(
        stream.entries.map(({ id, verb, left }) => [id, verb, left]),
        [[inside.id, "deleted", undefined]],
        "the entries of the record",
      );
    }),
    check("[K5] A held write shows the values of a record only to a caller that may read it.", async (t) => {
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
    check("[K6] A long poll of a scoped token does not answer with entries that the token may not see.", async (t) => {
      const { outside, token } = await reader(t);
      const polling = t.get(`/v1/log?after=${await t.head()}&wait=1500`, { token });
      t.answered(await t.patch(outside.path, { data: { order: 9 } }), 200);
      t.answered(await polling, 200, { data: [] });
    }),
    check("[K10] A scoped token may read the schema.", async (t) => {
      const { all } = await reader(t);
      t.answered(await all("/v1/schema"), 200, { object: "schema" });
    }),
  ],
};
