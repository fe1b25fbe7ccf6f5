import { someText } from "../../assertions/pattern.ts";
import { NOTE, WHOLE } from "../../environment/models.ts";
import type { Kit } from "../../kit/kit.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import type { Entry } from "../../protocol/answers.ts";
import type { Listener } from "../../transport/stream.ts";

const titled = (title: string) => ({ title });
const ofTitle = (id: string, title: string, more: object = {}) => ({ id, model: NOTE, where: titled(title), ...more });
const positionsOf = (entries: readonly Entry[]) => entries.map(({ syncId }) => syncId);
/** The positions of a case's own records: a reader of parts may also hear of the ends of others. */
const heardOf = ({ entries }: Listener, ...notes: readonly { readonly id: string }[]) =>
  positionsOf(entries.filter(({ id }) => notes.some((note) => note.id === id)));

/** The entries that a part has missed, from frames `partEntries`, up to a position. */
async function missedOf(stream: Listener, id: string, upTo: number): Promise<Entry[]> {
  const found: Entry[] = [];
  for (;;) {
    const frame = await stream.next("partEntries", { id });
    found.push(...(frame.entries as Entry[]));
    if (Number(frame.to) >= upTo) return found;
  }
}

/** A stream that answers a ping has handled all that was sent before. */
async function answersPing(stream: Listener, n: number): Promise<void> {
  stream.send({ frame: "ping", n });
  await stream.next("pong", { n });
}

const tooMany = (t: Kit) => Array.from({ length: 501 }, (_, n) => ofTitle(`p${n}`, t.id()));

const REFUSED: readonly (readonly [what: string, part: object, code: string])[] = [
  ["a condition of the wrong shape", { model: NOTE, where: { title: { like: "x" } } }, "invalid_value"],
  ["a condition that is no object", { model: NOTE, where: [] }, "invalid_type"],
  ["no model", {}, "missing_field"],
  ["a key that it cannot have", { model: NOTE, more: 1 }, "unknown_field"],
  ["a negative position", { model: NOTE, since: -1 }, "invalid_value"],
];

export const section: SuiteSection = {
  title: "Parts on the stream",
  cases: [
    check(
      "[T20] [T32] welcome says how many parts there can be, and all models that the token may read.",
      async (t) => {
        const stream = await t.stream();
        stream.send({ frame: "hello", token: t.environment.key, parts: [] });
        const { body: schema } = t.answered(await t.get("/v1/schema"), 200);
        const { models, parts } = await stream.next("welcome");
        t.is(parts, 500, "the most parts");
        t.is([...(models as string[])].sort(), Object.keys(schema.models as object).sort(), "the models");
      },
    ),
    check("[T20] With parts, a client gets what concerns them, and nothing else.", async (t) => {
      const [mine, theirs] = [t.id(), t.id()];
      const stream = await t.connect({ parts: [ofTitle("mine", mine)] });
      const one = await t.note(titled(mine));
      const other = await t.note(titled(theirs));
      t.answered(await t.post(`/v1/models/${WHOLE}`, { id: t.id(), data: {} }), 200);
      const last = await t.note(titled(mine));
      await stream.reaches(last.at);
      t.is(heardOf(stream, one, other, last), [one.at, last.at], "the positions that arrived");
      t.that(!stream.entries.some(({ model }) => model === WHOLE), "nothing of another model");
      t.is(stream.faults, [], "gaps and overlaps");
    }),
    check("[T20] Without parts, a hello with an empty list gets nothing, and the stream goes on.", async (t) => {
      const stream = await t.connect({ parts: [] });
      const { at } = await t.note();
      await stream.reaches(at);
      t.is(stream.entries, [], "the entries");
    }),
    check("[T20] A part without conditions is the whole model, whatever other parts of it ask for.", async (t) => {
      const stream = await t.connect({ parts: [{ id: "all", model: NOTE.toLowerCase() }, ofTitle("some", t.id())] });
      const note = await t.note();
      await stream.reaches(note.at);
      t.is(heardOf(stream, note), [note.at], "the positions that arrived");
    }),
    check(
      "[T20] [T31] After a hello with `more`, the stream begins once the rest of the parts is named.",
      async (t) => {
        const names = [t.id(), t.id(), t.id()] as const;
        const start = await t.note();
        const early = await Promise.all(names.map((name) => t.note(titled(name))));
        const [first, second, third] = names.map((name, n) => ofTitle(`p${n}`, name));
        const stream = await t.connect({ since: start.at, parts: [first], more: true });
        const late = await t.note(titled(names[2]));
        stream.send({ frame: "subscribe", parts: [second], more: true });
        stream.send({ frame: "subscribe", parts: [third, ofTitle("p0", t.id())] });
        await stream.next("refused", { id: "p0" });
        await stream.reaches(late.at);
        const all = [...early, late].map(({ at }) => at).sort((a, b) => a - b);
        t.is(heardOf(stream, ...early, late), all, "the positions that arrived");
        t.is(stream.faults, [], "gaps and overlaps");
      },
    ),
    check(
      "[T20] [T31] Until the last of the parts is named, other frames are answered, and nothing of the log is sent.",
      async (t) => {
        const name = t.id();
        const start = await t.note();
        const note = await t.note(titled(name));
        const stream = await t.connect({ since: start.at, parts: [], more: true });
        stream.send({ frame: "subscribe", parts: [ofTitle("one", name)], more: true });
        await answersPing(stream, 1);
        stream.send({ frame: "unsubscribe", ids: ["one"] });
        await stream.next("unsubscribed");
        t.is(stream.entries, [], "the entries before");
        stream.send({ frame: "subscribe", parts: [ofTitle("one", name)] });
        await stream.reaches(note.at);
        t.is(heardOf(stream, note), [note.at], "the positions that arrived");
      },
    ),
    check("[T20] [T27] [T26] A part comes on the open stream: from its position on, its entries arrive.", async (t) => {
      const [first, second] = [t.id(), t.id()];
      const stream = await t.connect({ parts: [ofTitle("first", first)] });
      const before = await t.note(titled(second));
      stream.send({ frame: "subscribe", parts: [ofTitle("second", second)] });
      const subscribed = await stream.next("subscribed", { id: "second" });
      t.fits(subscribed, { read: true }, "subscribed");
      t.that(Number(subscribed.position) >= before.at, "a position that has all that was committed before");
      const [one, two] = [await t.note(titled(first)), await t.note(titled(second))];
      await stream.reaches(two.at);
      t.is(heardOf(stream, before, one, two), [one.at, two.at], "the positions that arrived");
      t.is(stream.faults, [], "gaps and overlaps");
    }),
    check("[T20] [T30] [T29] A part leaves on the open stream, and its entries arrive no more.", async (t) => {
      const [first, second] = [t.id(), t.id()];
      const stream = await t.connect({ parts: [ofTitle("first", first), ofTitle("second", second)] });
      stream.send({ frame: "unsubscribe", ids: ["second"] });
      t.fits(await stream.next("unsubscribed"), { ids: ["second"] }, "unsubscribed");
      const other = await t.note(titled(second));
      const last = await t.note(titled(first));
      await stream.reaches(last.at);
      t.is(heardOf(stream, other, last), [last.at], "the positions that arrived");
      stream.send({ frame: "subscribe", parts: [ofTitle("second", second)] });
      t.fits(await stream.next("subscribed", { id: "second" }), { read: true }, "the part that comes again");
    }),
    check("[T20] [T27] A part that is behind the stream is told what it has missed.", async (t) => {
      const [first, second] = [t.id(), t.id()];
      const since = await t.head();
      const stream = await t.connect({ parts: [ofTitle("first", first)] });
      const made = await t.note(titled(second));
      await t.note(titled(first));
      const changed = t.answered(await t.patch(made.path, { data: { order: 7 } }), 200);
      stream.send({ frame: "subscribe", parts: [ofTitle("second", second, { since })] });
      const { position, read } = await stream.next("subscribed", { id: "second" });
      t.is(read, false, "whether it has to be read");
      const missed = await missedOf(stream, "second", Number(position));
      t.is(
        positionsOf(missed.filter(({ id }) => id === made.id)),
        [made.at, Number(changed.body.lastSyncId)],
        "their positions",
      );
    }),
    check(
      "[T20] [T27] [T26] The parts of a hello have positions of their own, and one round trip serves all.",
      async (t) => {
        const names = [t.id(), t.id(), t.id()] as const;
        const early = await t.head();
        const missed = await t.note(titled(names[1]));
        const since = await t.head();
        const late = await t.note(titled(names[0]));
        const stream = await t.connect({
          since,
          parts: [
            ofTitle("same", names[0]),
            ofTitle("behind", names[1], { since: early }),
            ofTitle("new", names[2], { since: null }),
          ],
        });
        t.fits(await stream.next("subscribed", { id: "behind" }), { position: since, read: false }, "the part behind");
        t.fits(await stream.next("subscribed", { id: "new" }), { position: since, read: true }, "the new part");
        const told = await missedOf(stream, "behind", since);
        t.is(positionsOf(told.filter(({ id }) => id === missed.id)), [missed.at], "what the part behind has missed");
        await stream.reaches(late.at);
        t.is(heardOf(stream, missed, late), [late.at], "what came after");
        t.that(
          !stream.frames.some(({ frame, id }) => frame === "subscribed" && id === "same"),
          "no frame about the part that is where the stream is",
        );
      },
    ),
    ...checkEach(
      REFUSED,
      ([what]) => `[T20] [T30] [T28] A part with ${what} is refused by its id: the others are followed.`,
      async (t, [, part, code]) => {
        const title = t.id();
        const stream = await t.connect({ parts: [{ id: "bad", ...part }, ofTitle("good", title)] });
        t.fits(
          await stream.next("refused", { id: "bad" }),
          { code, message: someText, request_id: someText },
          "refused",
        );
        stream.send({ frame: "subscribe", parts: [{ id: "worse", ...part }] });
        t.fits(await stream.next("refused", { id: "worse" }), { code }, "refused");
        const note = await t.note(titled(title));
        await stream.reaches(note.at);
        t.is(heardOf(stream, note), [note.at], "the positions that arrived");
      },
    ),
    check("[T20] [T28] An id that is followed already, and one that is not, are refused by their ids.", async (t) => {
      const title = t.id();
      const stream = await t.connect({ parts: [ofTitle("one", title)] });
      stream.send({ frame: "subscribe", parts: [ofTitle("one", t.id())] });
      t.fits(await stream.next("refused", { id: "one" }), { code: "invalid_value", param: "id" }, "refused");
      stream.send({ frame: "unsubscribe", ids: ["none"] });
      t.fits(await stream.next("refused", { id: "none" }), { code: "invalid_value", param: "ids" }, "refused");
      const note = await t.note(titled(title));
      await stream.reaches(note.at);
      t.is(heardOf(stream, note), [note.at], "the positions that arrived");
    }),
    check("[T20] A part that a frame leaves twice is left once.", async (t) => {
      const title = t.id();
      const stream = await t.connect({ parts: [ofTitle("one", title)] });
      stream.send({ frame: "unsubscribe", ids: ["one", "one"] });
      t.fits(await stream.next("unsubscribed"), { ids: ["one"] }, "unsubscribed");
      const note = await t.note(titled(title));
      await stream.reaches(note.at);
      t.is(heardOf(stream, note), [], "the positions that arrived");
    }),
    check("[T20] [T28] The part beyond 500 is refused by its id, and the others are followed.", async (t) => {
      const parts = tooMany(t);
      const stream = await t.connect({ parts: parts.slice(0, 20) });
      for (let from = 20; from < parts.length; from += 100)
        stream.send({ frame: "subscribe", parts: parts.slice(from, from + 100) });
      t.fits(await stream.next("refused", { id: "p500" }), { code: "invalid_value", param: "parts" }, "refused");
      const note = await t.note(titled(String(parts[499]?.where.title)));
      await stream.reaches(note.at);
      t.is(heardOf(stream, note), [note.at], "the positions that arrived");
    }),
    check("[T20] [T28] Conditions beyond 64 KiB are refused by the part's id.", async (t) => {
      const long = {
        order: { in: Array.from({ length: 100 }, (_, n) => n + 0.123_456_789) },
        title: "x".repeat(20_000),
      };
      const stream = await t.connect({ parts: [] });
      for (const id of ["a", "b", "c", "d"])
        stream.send({ frame: "subscribe", parts: [{ id, model: NOTE, where: long }] });
      t.fits(await stream.next("refused"), { id: "d", code: "invalid_value", param: "where" }, "refused");
    }),
    check("[T20] [T28] A part of a model that the token may not read is refused by its id.", async (t) => {
      const { token } = await t.capability({
        participantId: t.id(),
        operations: [`${NOTE}.read`],
        syncGroups: [t.deck().group],
      });
      const stream = await t.connect({ token, parts: [{ id: "whole", model: WHOLE }, ofTitle("note", t.id())] });
      t.fits(await stream.next("refused", { id: "whole" }), { code: "capability_scope_denied" }, "refused");
      await answersPing(stream, 1);
      t.that(
        !stream.frames.some(({ frame, id }) => frame === "refused" && id === "note"),
        "the other part to be followed",
      );
    }),
    check("[T20] Without parts in its hello, a stream refuses them by their ids, and follows as it did.", async (t) => {
      const stream = await t.connect({ models: [NOTE] });
      stream.send({ frame: "subscribe", parts: [{ id: "one", model: WHOLE }] });
      t.fits(await stream.next("refused", { id: "one" }), { code: "invalid_frame" }, "refused");
      const { at } = await t.note();
      await stream.reaches(at);
    }),
    check("[T20] A hello names either parts, or models and conditions.", async (t) => {
      const stream = await t.stream();
      stream.send({ frame: "hello", token: t.environment.key, parts: [], models: [NOTE] });
      t.fits(await stream.next("error"), { code: "invalid_frame", param: "models" }, "the error");
      t.is((await stream.closes()).code, 4400, "the close code");
    }),
  ],
};
