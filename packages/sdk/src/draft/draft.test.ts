import { expect, test } from "vitest";
import { until } from "../../../../scripts/testing/until.ts";
import { createTestServer } from "../testing/test-server.ts";
import { placeIn } from "./caret.ts";
import { openDraft } from "./index.ts";

const schema = {
  models: {
    note: {
      fields: {
        body: { type: "string", merge: "text" },
        title: { type: "string", nullable: true, maxLength: 12 },
        order: { type: "number" },
      },
    },
  },
} as const;

type Field = "body" | "title";

/** Ann has a draft of one field of a note, and Ben writes it too. */
async function drafting(field: Field, pauseMs = 100_000) {
  const own = createTestServer(schema);
  const [ann, ben] = [own.client({ actor: "ann" }), own.client({ actor: "ben" })];
  await Promise.all([ann.client.ready(), ben.client.ready()]);
  ann.client.models.note.create({ body: "one two three", title: "a b", order: 1 }, { id: "n" });
  await own.settle();
  const draft = openDraft(ann.client, { model: "note", id: "n", field }, { pauseMs });
  let renders = 0;
  const leave = draft.subscribe(() => {
    renders += 1;
  });
  // The code that merges is loaded on demand.
  await import("../text/merge-text.ts");
  const settle = async () => {
    for (let i = 0; i < 4; i++) await own.settle();
  };
  await settle();
  return {
    ...{ ...own, ann, ben, draft, leave, settle },
    renders: () => renders,
    value: () => draft.state().value,
    stored: () => own.server.rows.get("note/n")?.data[field],
    written: () => own.server.log.filter(({ actor }) => actor === "ann").length - 1,
    others: async (text: string) => {
      ben.client.models.note.update("n", { [field]: text });
      await settle();
    },
  };
}

test("[MT11] a draft shows the field until it is changed, then the text, and is written once after a pause", async () => {
  const { draft, value, settle, stored, written } = await drafting("title", 30);
  expect(draft.state()).toEqual({ value: "a b", dirty: false, conflict: undefined, error: undefined });
  for (const text of ["a bc", "a bcd", "a bcde"]) draft.set(text);
  expect(draft.state()).toMatchObject({ value: "a bcde", dirty: true });
  await settle();
  expect(written()).toBe(0);
  await until(async () => {
    await settle();
    expect(written()).toBe(1);
  });
  expect([stored(), value(), written(), draft.state().dirty]).toEqual(["a bcde", "a bcde", 1, false]);
});

test("[MT11] nothing is written if nothing has changed, or the text is again what it was", async () => {
  const { draft, settle, written, leave } = await drafting("title");
  expect(draft.commit()).toBeUndefined();
  draft.set("a bc");
  draft.set("a b");
  expect(draft.commit()).toBeUndefined();
  draft.set("a b");
  leave();
  await settle();
  expect([written(), draft.state().dirty]).toEqual([0, false]);
});

test("[MT11] a text that others change to the same is not written, and one that was put back shows theirs", async () => {
  const { draft, settle, written, others, value } = await drafting("title");
  draft.set("same");
  await others("same");
  expect(draft.commit()).toBeUndefined();
  draft.set("x");
  await others("theirs");
  draft.set("same");
  expect(draft.commit()).toBeUndefined();
  await settle();
  expect([written(), value()]).toEqual([0, "theirs"]);
});

test("[MT11] null and an absent record are an empty text, and an empty text does not replace null", async () => {
  const { draft, ann, settle, written, value } = await drafting("title");
  ann.client.models.note.update("n", { title: null });
  await settle();
  draft.set("");
  expect([value(), draft.commit()]).toEqual(["", undefined]);
  expect(openDraft(ann.client, { model: "note", id: "none", field: "title" }).state().value).toBe("");
  expect(() => openDraft(ann.client, { model: "none", id: "n", field: "title" })).toThrow(/no model "none"/);
  await settle();
  expect(written()).toBe(1);
});

test("[MT11] commit returns the write, which can be undone; discard drops the text; the last listener's end writes", async () => {
  const { draft, settle, stored, leave, written, value } = await drafting("title");
  draft.set("new");
  const write = draft.commit();
  await expect(write?.receipt).resolves.toMatchObject({ status: "confirmed" });
  write?.undo();
  await settle();
  expect(stored()).toBe("a b");
  draft.set("dropped");
  draft.discard();
  expect([value(), draft.commit()]).toEqual(["a b", undefined]);
  const another = draft.subscribe(() => {});
  draft.set("at the end");
  another();
  expect(draft.state().dirty).toBe(true);
  leave();
  await settle();
  expect([stored(), written()]).toEqual(["at the end", 3]);
});

test("[MT11] a state is one object until something in it changes", async () => {
  const { draft, renders, ann, settle } = await drafting("title");
  const [before, count] = [draft.state(), renders()];
  ann.client.models.note.update("n", { order: 2 });
  await settle();
  expect(draft.state()).toBe(before);
  expect(renders()).toBe(count);
});

test("[MT12] what others change shows at once while nothing is typed, and not while something is", async () => {
  const { draft, others, value } = await drafting("title");
  await others("theirs");
  expect(value()).toBe("theirs");
  draft.set("mine");
  await others("theirs too");
  expect(value()).toBe("mine");
});

test("[MT12] without merge, the write is made against the text that the draft began from, and conflicts", async () => {
  const { draft, others, value, settle, stored } = await drafting("title");
  draft.set("a bc");
  await others("x b");
  draft.commit();
  await settle();
  expect(stored()).toBe("x b");
  // The person goes on with the own text.
  expect(value()).toBe("a bc");
  const { conflict } = draft.state();
  expect(conflict).toMatchObject({ base: { title: "a b" }, mine: { title: "a bc" }, theirs: { title: "x b" } });
  draft.set("a bcd");
  draft.commit();
  await settle();
  expect(draft.state()).toMatchObject({ value: "a bcd", dirty: false, conflict: { mine: { title: "a bcd" } } });
  draft.state().conflict?.keepMine();
  await settle();
  expect(stored()).toBe("a bcd");
  expect(draft.state()).toMatchObject({ value: "a bcd", conflict: undefined });
});

test("[MT12] taking theirs during a conflict shows theirs", async () => {
  const { draft, others, settle } = await drafting("title");
  draft.set("mine");
  await others("theirs");
  draft.commit();
  await settle();
  draft.state().conflict?.takeTheirs();
  await settle();
  expect(draft.state()).toMatchObject({ value: "theirs", dirty: false, conflict: undefined });
});

test("[MT13] with merge, the words of others come into the text while a person types", async () => {
  const { draft, others, value, settle, stored, written, ann } = await drafting("body");
  draft.set("uno two three");
  await others("one two drei");
  expect(draft.state()).toMatchObject({ value: "uno two drei", dirty: true });
  draft.set("uno two drei!");
  await others("one zwei drei");
  expect(value()).toBe("uno zwei drei!");
  draft.commit();
  await settle();
  expect([stored(), written(), ann.client.conflicts().length]).toEqual(["uno zwei drei!", 1, 0]);
});

test("[MT13] if they change the same words, the text stays, and the write conflicts with both texts", async () => {
  const { draft, others, value, settle, stored } = await drafting("body");
  draft.set("uno two three");
  await others("eins two three");
  expect(value()).toBe("uno two three");
  draft.commit();
  await settle();
  expect(stored()).toBe("eins two three");
  expect(draft.state()).toMatchObject({
    value: "uno two three",
    conflict: { base: { body: "one two three" }, mine: { body: "uno two three" }, theirs: { body: "eins two three" } },
  });
});

test("[MT13] two people who type at the same time end with the words of both", async () => {
  const { draft, ben, settle, stored, ann } = await drafting("body");
  const bens = openDraft(ben.client, { model: "note", id: "n", field: "body" }, { pauseMs: 100_000 });
  bens.subscribe(() => {});
  await settle();
  const typed = { ann: "Ann writes here. ", ben: " Ben writes there." };
  for (let i = 1; i <= 18; i++) {
    const [left, right] = [typed.ann.slice(0, i), typed.ben.slice(0, i)];
    draft.set(draft.state().value.replace(/^(.*)one/s, `${left}one`));
    bens.set(bens.state().value.replace(/three(.*)$/s, `three${right}`));
    if (i % 3 === 0) draft.commit();
    if (i % 4 === 0) bens.commit();
    if (i % 5 === 0) await settle();
  }
  draft.commit();
  bens.commit();
  await settle();
  expect(stored()).toBe("Ann writes here. one two three Ben writes there.");
  expect([draft.state().value, bens.state().value]).toEqual([stored(), stored()]);
  expect([ann, ben].map(({ client }) => client.conflicts().length)).toEqual([0, 0]);
});

test("[MT7] [MT16] a draft over a pending text has seen no more than that, and does not replace what others have written", async () => {
  const { ann, others, settle, stored } = await drafting("body");
  ann.connection.answers.push("held back");
  ann.client.models.note.update("n", { body: "uno two three" });
  await settle();
  await others("one two drei");
  const draft = openDraft(ann.client, { model: "note", id: "n", field: "body" }, { pauseMs: 100_000 });
  draft.subscribe(() => {});
  expect(draft.state().value).toBe("uno two three");
  draft.set("uno two tres");
  ann.connection.release();
  await settle();
  expect(stored()).toBe("uno two drei");
  expect(draft.state().value).toBe("uno two tres");
  draft.commit();
  await settle();
  expect(stored()).toBe("uno two drei");
  expect(draft.state()).toMatchObject({ value: "uno two tres", conflict: { theirs: { body: "uno two drei" } } });
});

test("[MT14] a text that the client refuses stays, with the error, and is written once it fits", async () => {
  const { draft, settle, stored, written } = await drafting("title");
  draft.set("far too long a title");
  expect(draft.commit()).toBeUndefined();
  expect(draft.state()).toMatchObject({ value: "far too long a title", dirty: true, error: { code: "rule_broken" } });
  draft.set("short");
  expect(draft.state().error).toBeUndefined();
  draft.commit();
  await settle();
  expect([stored(), written()]).toEqual(["short", 1]);
});

test("[MT14] offline, drafts are queued and merged later; a deleted record makes a conflict", async () => {
  const { draft, ann, ben, others, settle, stored } = await drafting("body");
  ann.offline();
  draft.set("uno two three");
  draft.commit();
  draft.set("uno two three four");
  draft.commit();
  await others("one zwei three");
  ann.online();
  await settle();
  expect(stored()).toBe("uno zwei three four");
  draft.set("uno zwei three five");
  ben.client.models.note.delete("n");
  await settle();
  draft.commit();
  await settle();
  expect(draft.state()).toMatchObject({ value: "uno zwei three five", conflict: { theirs: null } });
});

test.each([
  ["before a change", "one two", "one two three", 3, 3],
  ["behind a change", "one two", "uno mas two", 7, 11],
  ["inside of a change", "one two three", "one 2 three", 6, 5],
  ["at the end", "ab", "abc", 2, 2],
  ["nothing left", "abc", "", 2, 0],
])("[MT13] the caret keeps its place among the words: %s", (_, text, next, at, place) => {
  expect(placeIn(text, next, at)).toBe(place);
});

test("[D49] a draft of a record that is erased keeps what the person typed, and not the text that it began with", async () => {
  const { draft, ann, server, settle, stored } = await drafting("body");
  draft.set("typed");
  server.erase("note", "n");
  await settle();
  expect(draft.state()).toMatchObject({ value: "typed", dirty: true });
  draft.commit();
  await settle();
  expect(ann.client.conflicts()).toMatchObject([{ mine: { body: "typed" }, base: {}, theirs: null }]);
  expect(JSON.stringify(await ann.client.exportPending())).not.toContain("one two three");
  expect(stored()).toBeUndefined();
});

test("[D49] a draft without changes shows nothing of a record that is erased", async () => {
  const { draft, value, server, settle } = await drafting("title");
  expect(value()).toBe("a b");
  server.erase("note", "n");
  await settle();
  expect(draft.state()).toEqual({ value: "", dirty: false, conflict: undefined, error: undefined });
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, null, "5", -1])(
  "[PK15] a draft refuses the pause %s",
  async (given) => {
    const { client } = createTestServer(schema).client();
    expect(() => openDraft(client, { model: "note", id: "n", field: "body" }, { pauseMs: given as number })).toThrow(
      "pauseMs must be a number",
    );
  },
);
