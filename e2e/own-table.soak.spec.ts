import { startDemo, type WholeDemo } from "./support/demo.ts";
import { createDeck, entriesOf } from "./support/log.ts";
import { test as base, expect } from "./support/test.ts";

/** A demo of its own, whose slides are rows of a table. */
const test = base.extend<{ demo: WholeDemo }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads a fixture's needs from this pattern
  demo: async ({}, use) => {
    const demo = await startDemo();
    await use(demo);
    await demo.stop();
  },
});

test("slides are rows of a table: SQL changes the board, the board changes rows, and a constraint refuses", async ({
  demo,
  open,
}) => {
  const deck = await createDeck(demo, ["One", "Two"]);
  const [first = ""] = deck.slideIds;
  const ada = await open("ada", deck.id);
  const changed = await demo.sql(
    `update public.slides set title = upper(title) where deck_id = '${deck.id}';
     insert into public.slides (id, deck_id, title, "order") values ('sql-${deck.id}', '${deck.id}', 'From SQL', 9)`,
  );
  expect(changed).toEqual({ code: 0, printed: "UPDATE 2\nINSERT 1\n" });
  await ada.shows(["ONE", "TWO", "From SQL"]);

  await ada.rename(1, "Back");
  await ada.isSaved();
  const found = await demo.sql(`select title from public.slides where id = '${first}'`);
  expect(found.printed).toContain("'Back'");
  expect((await entriesOf(demo, first)).map(({ data }) => data?.title)).toEqual(["One", "ONE", "Back"]);

  await demo.sql("alter table public.slides add constraint no_shouting check (title <> 'AAARGH')");
  try {
    await ada.rename(2, "AAARGH");
    await expect(ada.page.getByText("no_shouting").first()).toBeVisible();
    expect((await demo.sql("select 1 from public.slides where title = 'AAARGH'")).printed).toBe("SELECT 0\n");
  } finally {
    await demo.sql("alter table public.slides drop constraint no_shouting");
  }
});
