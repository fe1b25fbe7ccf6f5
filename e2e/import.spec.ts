import { createHash, randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { entriesOf } from "./support/log.ts";
import { expect, test } from "./support/test.ts";

const sample = fileURLToPath(new URL("../apps/demo/sample/keeping-a-shared-deck-honest.md", import.meta.url));

test("an imported deck grows on an open page, which shows the progress", async ({ demo, browser }) => {
  const page = await (await browser.newContext()).newPage();
  await page.goto(`${demo.pageUrl}/?deck=${deckIdOf(await readFile(sample))}`);
  await expect(page.getByText("No slides here yet.")).toBeVisible();

  // Held when the page first shows it, so that it cannot be done before the test has looked.
  const importing = demo.startImport(sample, "--pace", "100");
  const progress = page.getByRole("progressbar", { name: "Passages read" });
  await progress.waitFor();
  importing.hold();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Keeping a shared deck honest");
  const held = Number(await progress.getAttribute("value"));
  expect(held).toBeLessThan(Number(await progress.getAttribute("max")));
  expect(await page.getByRole("article").count()).toBeLessThan(12);
  importing.goOn();
  await expect(page.getByText(/The agent has read all \d+ passages\./)).toBeVisible();
  await expect(page.getByRole("article")).toHaveCount(12);
  await expect(page.getByRole("textbox", { name: "Title of slide 12", exact: true })).toHaveValue("In one breath");

  const { code, printed } = await importing.ended;
  expect(code).toBe(0);
  expect(printed).toContain("Imported “Keeping a shared deck honest”: 12 slides");
  await page.context().close();
});

test("importing a file twice changes nothing, and several decks can be chosen from", async ({ demo, open }) => {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-import-"));
  const file = join(folder, "notes.md");
  const title = `Notes ${randomUUID().slice(0, 4)}`;
  await writeFile(file, `# ${title}\n\n## First\n\nText.\n\n## Second\n\n- a list\n`);
  const { printed } = await demo.import(file, "--pace", "0");
  const deckId = /deck=(\S+)/.exec(printed)?.[1] ?? "";
  const before = await entriesOf(demo, `${deckId}_s1`);

  expect((await demo.import(file)).printed).toContain("nothing to do");
  expect(await entriesOf(demo, `${deckId}_s1`)).toEqual(before);

  await writeFile(file, `# Other ${title}\n\n## Only\n`);
  await demo.import(file, "--pace", "0");
  const ada = await open("ada", deckId);
  await ada.shows(["First", "Second"]);
  await ada.page.getByLabel("Deck", { exact: true }).selectOption({ label: `Other ${title}` });
  await ada.shows(["Only"]);
  await ada.page.goBack();
  await ada.shows(["First", "Second"]);
  await rm(folder, { recursive: true });
});

test("a file can be chosen on the page; binary files are refused with a sentence, and other sites are refused", async ({
  demo,
  browser,
}) => {
  const page = await (await browser.newContext()).newPage();
  await page.goto(demo.pageUrl);
  const chooser = page.getByLabel("Choose a Markdown file");
  await chooser.setInputFiles({ name: "photo.md", mimeType: "image/jpeg", buffer: Buffer.from([0xff, 0xd8, 0xff]) });
  const panel = page.getByRole("region", { name: "Import", exact: true });
  await expect(panel).toContainText("photo.md is not UTF-8 text.");
  const title = `Chosen ${randomUUID().slice(0, 4)}`;
  const buffer = Buffer.from(`# ${title}\n\n## Only\n\nText.\n`);
  await chooser.setInputFiles({ name: "chosen.md", mimeType: "text/markdown", buffer });
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(title);
  await expect(panel).toContainText("The agent has read the one passage.");
  await page.context().close();

  const elsewhere = await fetch(`${demo.pageUrl}/import?name=x.md`, { method: "POST", body: "# X" });
  expect(elsewhere.status).toBe(403);
});

test.describe("a file that cannot be imported is refused in a sentence", () => {
  for (const [what, words, sentence] of [
    ["no file", [], "One file, please."],
    ["a missing file", ["no-such-file.md"], "There is no file"],
    ["no server", [sample, "--server", "http://127.0.0.1:9"], "No server answers at http://127.0.0.1:9"],
    ["a wrong key", [sample, "--token", "sk_live_wrong"], "refused the key"],
  ] as const) {
    test(what, async ({ demo }) => {
      const [file = "", ...rest] = words;
      const { code, printed } = await demo.import(file, ...rest);
      expect(code).toBe(1);
      expect(printed).toContain(sentence);
      expect(printed).not.toContain("    at ");
    });
  }
});

/** A deck's id follows from its file's content. */
const deckIdOf = (content: Buffer) => `doc_${createHash("sha256").update(content).digest("hex").slice(0, 20)}`;
