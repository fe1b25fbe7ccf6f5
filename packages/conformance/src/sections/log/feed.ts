import { setTimeout as pause } from "node:timers/promises";
import { absent, aList, atLeast, flag, time } from "../../assertions/pattern.ts";
import { NOTE, WHOLE } from "../../environment/models.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import { entriesOf, idsOf, positionOf } from "../../protocol/answers.ts";

const notes = `/v1/models/${NOTE}`;

/** Where the conditions on notes are wrong. */
const ofNotes = new RegExp(`^where\\.${NOTE}`);
const where = (records: unknown) => `where=${encodeURIComponent(JSON.stringify(records))}`;

export const section: SuiteSection = {
  title: "The change feed",
  cases: [
    check("[G6] The feed answers with the list envelope of entries, with stamp and logId.", async (t) => {
      const { at } = await t.note();
      t.answered(await t.get(`/v1/log?after=${at - 1}&limit=1`), 200, {
        object: "list",
        data: [{ object: "log_entry", syncId: at }],
        has_more: flag,
        next_cursor: String(at),
        stamp: atLeast(at),
        logId: /^log_/,
      });
    }),
    check(
      "[G6] Without after, the feed begins at the start of the log; a page has 100 entries unless limit says otherwise.",
      async (t) => {
        const { key: token } = await t.freshTenant();
        const create = () => ({ action: "create", model: NOTE, id: t.id(), data: {} });
        for (let i = 0; i < 2; i++) t.answered(await t.commit(Array.from({ length: 60 }, create), {}, { token }), 200);
        const first = t.answered(await t.get("/v1/log", { token }), 200, {
          has_more: true,
          next_cursor: "100",
          stamp: 120,
        });
        t.is(
          entriesOf(first).map(({ syncId }) => syncId),
          Array.from({ length: 100 }, (_, i) => i + 1),
          "positions of the first page",
        );
        const second = t.answered(await t.get("/v1/log?after=100", { token }), 200, {
          has_more: false,
          next_cursor: "120",
        });
        t.is(entriesOf(second).length, 20, "entries of the second page");
      },
    ),
    check("[G6] has_more says whether the head is beyond the last position examined.", async (t) => {
      const { at } = await t.note();
      await t.note();
      t.answered(await t.get(`/v1/log?after=${at - 1}&limit=1`), 200, { has_more: true, next_cursor: String(at) });
      const head = await t.head();
      const end = t.answered(await t.get(`/v1/log?after=${head}`), 200, { next_cursor: atLeastText(head) });
      t.is(end.body.has_more, Number(end.body.stamp) > Number(end.body.next_cursor), "has_more");
    }),
    check("[G6] next_cursor is the last position examined, shown or not.", async (t) => {
      const { at, group } = await t.note();
      for (let i = 0; i < 5; i++) await t.note();
      const head = await t.head();
      const page = t.answered(await t.get(`/v1/log?after=${at - 1}&group=${group}`), 200);
      t.is(
        entriesOf(page).map(({ syncId }) => syncId),
        [at],
        "positions shown",
      );
      t.that(Number(page.body.next_cursor) >= head, `a next_cursor from ${head}`, page.body.next_cursor);
    }),
    check("[G6] model, repeatable and case-insensitive, selects the entries of these models.", async (t) => {
      const before = await t.head();
      const { id } = await t.note();
      const whole = t.id();
      t.answered(await t.post(`/v1/models/${WHOLE}`, { id: whole, data: {} }), 200);
      const shown = async (query: string) => {
        const page = t.answered(await t.get(`/v1/log?after=${before}&${query}`), 200);
        return entriesOf(page)
          .filter((entry) => [id, whole].includes(entry.id))
          .map(({ model }) => model);
      };
      t.is(await shown(`model=${NOTE}`), [NOTE], `models of model=${NOTE}`);
      t.is(await shown(`model=${WHOLE.toLowerCase()}`), [WHOLE], "models of the other, lower-cased");
      t.is(await shown(`model=${NOTE}&model=${WHOLE}`), [NOTE, WHOLE], "models of both");
    }),
    check("[G6] group, repeatable, selects the entries of these groups.", async (t) => {
      const before = await t.head();
      const [a, b, c] = [await t.note(), await t.note(), await t.note()];
      const shown = async (query: string) =>
        entriesOf(t.answered(await t.get(`/v1/log?after=${before}&${query}`), 200)).map(({ id }) => id);
      t.is(await shown(`group=${a.group}`), [a.id], "ids of one group");
      t.is(await shown(`group=${a.group}&group=${c.group}`), [a.id, c.id], "ids of two groups");
      t.that(!(await shown(`group=${a.group}`)).includes(b.id), "nothing of the other group");
      const whole = await t.get(`/v1/log?after=${c.at - 1}&limit=1&group=org:${await t.organization()}`);
      t.is(idsOf(whole), [c.id], "ids of the organization's group, from there");
      for (const group of ["nothing", "Deck:1", "deck:"])
        t.refused(await t.get(`/v1/log?group=${encodeURIComponent(group)}`), "invalid_sync_group");
    }),
    check(
      "[G6] [T7] A record that leaves the requested groups appears as deleted, with data null and left: true; one that enters them appears whole.",
      async (t) => {
        const { id, path, at, group } = await t.note({ title: "moves" });
        const next = t.deck();
        t.answered(await t.patch(path, { data: { deckId: next.deckId } }), 200);
        const before = t.answered(await t.get(`/v1/log?after=${at}&group=${group}`), 200);
        t.fits(entriesOf(before), [{ id, verb: "deleted", data: null, left: true }], "the entries of the old group");
        const after = t.answered(await t.get(`/v1/log?after=${at}&group=${next.group}`), 200);
        t.fits(
          entriesOf(after),
          [{ id, verb: "updated", data: { id, title: "moves", deckId: next.deckId } }],
          "the entries of the new group",
        );
        t.is(entriesOf(after)[0]?.left, undefined, "left of the first entry for the new group");
      },
    ),
    check("[G6] [T7] The groups of an older entry are those that it had.", async (t) => {
      const { id, path, at, group } = await t.note({ title: "one" });
      const next = t.deck();
      t.answered(await t.patch(path, { data: { deckId: next.deckId } }), 200);
      t.answered(await t.patch(path, { data: { title: "secret" } }), 200);
      const earlier = entriesOf(await t.get(`/v1/log?after=${at - 1}&group=${group}`));
      t.is(
        earlier.map(({ verb, left }) => [verb, left === true]),
        [
          ["created", false],
          ["deleted", true],
        ],
        "the entries of the old group",
      );
      t.that(!JSON.stringify(earlier).includes("secret"), "no value that was written later");
      const later = entriesOf(await t.get(`/v1/log?after=${at - 1}&group=${next.group}`));
      t.is(
        later.map((entry) => [entry.id, entry.verb]),
        [
          [id, "updated"],
          [id, "updated"],
        ],
        "the entries of the new group",
      );
    }),
    ...checkEach(
      [
        ...["limit=0", "limit=1001", "limit=abc", "limit=1e2", "limit=-1"],
        ...["after=-1", "after=abc", "after=1.5", "after=1.0", "after=99999999999999999", "after=1&after=2"],
        ...["wait=-1", "wait=25001", "wait=abc", "colour=1", "since=1", "group=deck", "group=deck:%00"],
      ],
      (query) => `[H6] GET /v1/log?${query} is 400, and the parameter is named.`,
      async (t, query) =>
        t.answered(await t.get(`/v1/log?${query}`), 400, {
          type: "validation_error",
          param: query.split("=")[0] ?? "",
        }),
    ),
    check("[H6] The largest limits and wait=0 are accepted.", async (t) => {
      t.answered(await t.get("/v1/log?limit=1000&wait=0"), 200);
      t.answered(await t.get("/v1/snapshot?limit=10000"), 200);
      t.refused(await t.get("/v1/schema?x=1"), "unknown_parameter", { param: "x" });
    }),
    check(
      "[G24] where selects the entries of records that meet conditions; an update after which they are not met is told as left.",
      async (t) => {
        const before = await t.head();
        const { deckId } = t.deck();
        const [a, b] = [await t.note({ deckId, order: 1 }), await t.note({ deckId, order: 9 })];
        t.answered(await t.patch(a.path, { data: { title: "two" } }), 200);
        t.answered(await t.patch(a.path, { data: { order: 5 } }), 200);
        t.answered(await t.patch(b.path, { data: { title: "two" } }), 200);
        t.answered(await t.patch(b.path, { data: { order: 2 } }), 200);
        t.answered(await t.remove(a.path), 200);
        const query = where({ [NOTE]: { deckId, order: { gte: 1, lt: 3 } } });
        const page = t.answered(await t.get(`/v1/log?after=${before}&limit=1000&${query}`), 200);
        t.is(
          entriesOf(page)
            .filter(({ id }) => [a.id, b.id].includes(id))
            .map(({ id, verb, left }) => [id === a.id ? "a" : "b", verb, left === true]),
          [
            ["a", "created", false],
            ["a", "updated", false],
            ["a", "deleted", true],
            ["b", "updated", false],
            ["a", "deleted", false],
          ],
          "what is told",
        );
      },
    ),
    ...checkEach(
      [
        ["an operator that it does not have", { [NOTE]: { title: { startsWith: "a" } } }, ofNotes],
        ["51 alternatives", { [NOTE]: Array(51).fill({}) }, ofNotes],
        ["101 values", { [NOTE]: { title: { in: Array(101).fill("a") } } }, ofNotes],
        ["4 100 characters", { [NOTE]: { title: "x".repeat(4_100) } }, /^where/],
        ["no object", [], /^where/],
      ] as const,
      ([what]) => `[G24] A where with ${what} is refused.`,
      async (t, [_, wrong, param]) => {
        for (const path of ["/v1/log", "/v1/snapshot"])
          t.refused(await t.get(`${path}?${where(wrong)}`), "invalid_value", { param });
      },
    ),
    check("[G24] A where that is no JSON is refused, and one about an unknown model limits nothing.", async (t) => {
      const { id, at, group } = await t.note();
      for (const path of [`/v1/log?after=${at - 1}&limit=1`, `/v1/snapshot?group=${group}`]) {
        t.refused(await t.get(`${path}&where=%7B`), "invalid_value", { param: "where" });
        const answer = t.answered(await t.get(`${path}&${where({ ConfNothing: { a: 1 } })}`), 200);
        t.that(answer.text.includes(`"${id}"`), "the note to be there", answer.text);
      }
    }),
    ...checkEach(
      [
        ["names a field that the model lacks", { colour: "red" }],
        ["has a value of another type", { order: "1" }],
      ] as const,
      ([what]) => `[G24] A where that ${what} finds no record.`,
      async (t, [_, condition]) => {
        const before = await t.head();
        const { id, group } = await t.note();
        const page = t.answered(
          await t.get(`/v1/log?after=${before}&group=${group}&${where({ [NOTE]: condition })}`),
          200,
        );
        t.that(!idsOf(page).includes(id), "nothing of it");
      },
    ),
    check("[T15] An update of an archived record says since when it is archived.", async (t) => {
      const { path, at } = await t.note();
      t.answered(await t.post(`${path}/archive`), 200);
      t.answered(await t.patch(path, { data: { title: "two" } }), 200);
      const entries = await t.entries(at - 1, [path.slice(path.lastIndexOf("/") + 1)]);
      t.fits(
        entries,
        [{ archivedAt: absent }, { verb: "archived", archivedAt: absent }, { verb: "updated", archivedAt: time }],
        "its entries",
      );
    }),
    check("[G6] An after beyond the head is refused.", async (t) => {
      t.refused(await t.get(`/v1/log?after=${2 ** 52}`), "read_at_in_future");
    }),
    check("[G6] With wait, a poll at the head is answered as soon as something is written.", async (t) => {
      const { group, deckId } = t.deck();
      const head = await t.head();
      const begun = performance.now();
      const polling = t.get(`/v1/log?after=${head}&group=${group}&wait=25000`);
      await pause(300);
      const id = t.id();
      const made = t.answered(await t.post(notes, { id, data: { deckId } }), 200);
      const page = t.answered(await polling, 200);
      t.is(
        entriesOf(page).map(({ syncId }) => syncId),
        [positionOf(made)],
        "the positions",
      );
      const took = performance.now() - begun;
      t.that(
        took >= 250 && took < 24_000,
        "an answer after the write and long before the time is over",
        Math.round(took),
      );
    }),
    check("[G6] With wait, a poll is answered without entries if nothing is written in its time.", async (t) => {
      const { group } = t.deck();
      const begun = performance.now();
      const head = await t.head();
      const polling = t.get(`/v1/log?after=${head}&group=${group}&wait=1200`);
      // An entry that this reader may not see does not end the wait, but the server examines it.
      const { at } = await t.note();
      const page = t.answered(await polling, 200, { data: aList });
      t.that(Number(page.body.next_cursor) >= at, `a next_cursor from ${at}`, page.body.next_cursor);
      const took = performance.now() - begun;
      t.is(entriesOf(page), [], "the entries");
      t.that(took >= 1_000 && took < 24_000, "an answer after 1.2 s", Math.round(took));
    }),
    check("[G6] With wait, a poll behind the head is answered at once.", async (t) => {
      const { at } = await t.note();
      const begun = performance.now();
      t.answered(await t.get(`/v1/log?after=${at - 1}&wait=25000`), 200);
      t.that(performance.now() - begun < 24_000, "an answer before the time is over");
    }),
  ],
};

const atLeastText = (least: number) => new RegExp(`^(${least}|[1-9]\\d*)$`);
