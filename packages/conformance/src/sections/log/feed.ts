import { setTimeout as pause } from "node:timers/promises";
import { entriesOf, positionOf } from "../../answers.ts";
import { NOTE, WHOLE } from "../../models.ts";
import { aList, atLeast, flag } from "../../pattern.ts";
import { check, checkEach, type SuiteSection } from "../../section.ts";

const notes = `/v1/models/${NOTE}`;

export const section: SuiteSection = {
  title: "The change feed",
  cases: [
    check("The feed is answered with the list envelope of entries, with stamp and logId.", async (t) => {
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
      "Without after it begins at the log's beginning; a page has 100 entries unless limit says otherwise.",
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
    check("has_more tells whether the head lies beyond what was examined.", async (t) => {
      const { at } = await t.note();
      await t.note();
      t.answered(await t.get(`/v1/log?after=${at - 1}&limit=1`), 200, { has_more: true, next_cursor: String(at) });
      const head = await t.head();
      const end = t.answered(await t.get(`/v1/log?after=${head}`), 200, { next_cursor: atLeastText(head) });
      t.is(end.body.has_more, Number(end.body.stamp) > Number(end.body.next_cursor), "has_more");
    }),
    check("next_cursor is the last position examined, shown or not.", async (t) => {
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
    check("model, repeatable and in any case, shows the entries of these models alone.", async (t) => {
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
    check("group, repeatable, shows the entries of these groups alone.", async (t) => {
      const before = await t.head();
      const [a, b, c] = [await t.note(), await t.note(), await t.note()];
      const shown = async (query: string) =>
        entriesOf(t.answered(await t.get(`/v1/log?after=${before}&${query}`), 200)).map(({ id }) => id);
      t.is(await shown(`group=${a.group}`), [a.id], "ids of one group");
      t.is(await shown(`group=${a.group}&group=${c.group}`), [a.id, c.id], "ids of two groups");
      t.that(!(await shown(`group=${a.group}`)).includes(b.id), "nothing of the other group");
      for (const group of ["nothing", "Deck:1", "deck:"])
        t.refused(await t.get(`/v1/log?group=${encodeURIComponent(group)}`), "invalid_sync_group");
    }),
    check(
      "A record that leaves the groups asked for is told as deleted, with data null and left: true; one that enters comes whole.",
      async (t) => {
        const { id, path, at, group } = await t.note({ title: "moves" });
        const next = t.deck();
        t.answered(await t.patch(path, { data: { deckId: next.deckId } }), 200);
        const before = t.answered(await t.get(`/v1/log?after=${at}&group=${group}`), 200);
        t.fits(entriesOf(before), [{ id, verb: "deleted", data: null, left: true }], "what the old group hears");
        const after = t.answered(await t.get(`/v1/log?after=${at}&group=${next.group}`), 200);
        t.fits(
          entriesOf(after),
          [{ id, verb: "updated", data: { id, title: "moves", deckId: next.deckId } }],
          "what the new group hears",
        );
        t.is(entriesOf(after)[0]?.left, undefined, "left of what the new group hears");
      },
    ),
    check("Older entries are judged by the groups that they had.", async (t) => {
      const { id, path, at, group } = await t.note({ title: "one" });
      const next = t.deck();
      t.answered(await t.patch(path, { data: { deckId: next.deckId } }), 200);
      t.answered(await t.patch(path, { data: { title: "secret" } }), 200);
      const told = entriesOf(await t.get(`/v1/log?after=${at - 1}&group=${group}`));
      t.is(
        told.map(({ verb, left }) => [verb, left === true]),
        [
          ["created", false],
          ["deleted", true],
        ],
        "what the old group hears",
      );
      t.that(!JSON.stringify(told).includes("secret"), "nothing of what came later");
      const later = entriesOf(await t.get(`/v1/log?after=${at - 1}&group=${next.group}`));
      t.is(
        later.map((entry) => [entry.id, entry.verb]),
        [
          [id, "updated"],
          [id, "updated"],
        ],
        "what the new group hears",
      );
    }),
    ...checkEach(
      [
        "limit=0",
        "limit=abc",
        "limit=1e2",
        "limit=-1",
        "after=-1",
        "after=abc",
        "after=1.5",
        "wait=-1",
        "wait=25001",
        "wait=abc",
        "colour=1",
        "after=1&after=2",
      ],
      (query) => `GET /v1/log?${query} is 400.`,
      async (t, query) => t.answered(await t.get(`/v1/log?${query}`), 400, { type: "validation_error" }),
    ),
    check("An after beyond the head is refused.", async (t) => {
      const answer = await t.get(`/v1/log?after=${2 ** 52}`);
      t.that(answer.status >= 400 && answer.status < 500, "a 4xx", answer.status);
    }),
    check("wait: a poll at the head is answered as soon as something is written.", async (t) => {
      const { group, deckId } = t.deck();
      const head = await t.head();
      const begun = performance.now();
      const polling = t.get(`/v1/log?after=${head}&group=${group}&wait=15000`);
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
        took >= 250 && took < 10_000,
        "an answer after the write and long before the time is over",
        Math.round(took),
      );
    }),
    check("wait: a poll that nothing happens for is answered empty when its time is over.", async (t) => {
      const { group } = t.deck();
      const begun = performance.now();
      const page = t.answered(await t.get(`/v1/log?after=${await t.head()}&group=${group}&wait=1200`), 200, {
        data: aList,
      });
      const took = performance.now() - begun;
      t.is(entriesOf(page), [], "the entries");
      t.that(took >= 1_000 && took < 6_000, "an answer after about 1.2 s", Math.round(took));
    }),
    check("wait: a poll behind the head is answered at once.", async (t) => {
      const { at } = await t.note();
      const begun = performance.now();
      t.answered(await t.get(`/v1/log?after=${at - 1}&wait=20000`), 200);
      t.that(performance.now() - begun < 5_000, "an answer at once");
    }),
  ],
};

const atLeastText = (least: number) => new RegExp(`^(${least}|[1-9]\\d*)$`);
