import { openDraft } from "@holdfast/sdk/draft";
import { defineSchema } from "@holdfast/sdk/node";
import { expect, test } from "vitest";
import { until } from "../../scripts/testing/until.ts";
import { schema, startPeople } from "./people.ts";

const { slide } = schema.models;
const own = defineSchema({
  models: { slide: { ...slide, fields: { ...slide.fields, notes: { type: "string", merge: "text" } } } },
});
const { person, request } = await startPeople(own);

/** Ann and Ben, who both have a slide with notes. */
async function both(id: string) {
  const [ann, ben] = [(await person("ann")).client, (await person("ben")).client];
  await ann.models.slide.create({ deckId: "d1", title: "T", notes: "one two three" }, { id }).receipt;
  await until(() => expect(ben.models.slide.get(id)).toBeDefined());
  const stored = async () =>
    ((await request("GET", `/v1/models/slide/${id}`)) as { data: { notes: string } }).data.notes;
  return { ann, ben, stored };
}

test("[MT4] [MT5] what two people write offline in one text is merged on the real server, each write once", async () => {
  const { ann, ben, stored } = await both("m1");
  ann.pause();
  const writes = ["uno two three", "uno two three!"].map((notes) => ann.models.slide.update("m1", { notes }));
  await ben.models.slide.update("m1", { notes: "one two drei" }).receipt;
  ann.resume();
  for (const { receipt } of writes) await expect(receipt).resolves.toMatchObject({ status: "confirmed" });
  expect(await stored()).toBe("uno two drei!");
  await until(() => expect(ben.models.slide.get("m1")?.notes).toBe("uno two drei!"));
  expect([ann.conflicts(), ben.conflicts()]).toEqual([[], []]);
  const { data } = (await request("GET", "/v1/models/slide/m1/history")) as { data: unknown[] };
  expect(data).toHaveLength(4);
});

test("[MT2] [MT4] changes of the same words are a conflict, which a person resolves", async () => {
  const { ann, ben, stored } = await both("m2");
  ann.pause();
  const write = ann.models.slide.update("m2", { notes: "one dos three" });
  await ben.models.slide.update("m2", { notes: "one zwei three" }).receipt;
  ann.resume();
  await expect(write.receipt).rejects.toMatchObject({ code: "stale_context" });
  const [conflict] = ann.conflicts();
  expect(conflict).toMatchObject({ base: { notes: "one two three" }, mine: { notes: "one dos three" } });
  await conflict?.merge({ notes: "one dos zwei three" }).receipt;
  expect(await stored()).toBe("one dos zwei three");
});

test("[MT13] two people who type into one text at the same time end with the words of both", async () => {
  const { ann, ben, stored } = await both("m3");
  const drafts = [ann, ben].map((client) =>
    openDraft(client, { model: "slide", id: "m3", field: "notes" }, { pauseMs: 30 }),
  );
  const leave = drafts.map((draft) => draft.subscribe(() => {}));
  const [anns, bens] = drafts;
  const pause = () => new Promise((resolve) => setTimeout(resolve, 10));
  await pause();
  const typed = { ann: "Ann writes this first. ", ben: " Ben writes that last." };
  for (let i = 1; i <= typed.ann.length; i++) {
    anns?.set(anns.state().value.replace(/^.*?one/s, `${typed.ann.slice(0, i)}one`));
    bens?.set(bens.state().value.replace(/three.*$/s, `three${typed.ben.slice(0, i)}`));
    await pause();
  }
  for (const end of leave) end();
  await Promise.all([ann, ben].map((client) => client.drain({ timeoutMs: 10_000 })));
  expect([ann.conflicts(), ben.conflicts()]).toEqual([[], []]);
  expect(await stored()).toBe("Ann writes this first. one two three Ben writes that last.");
});
