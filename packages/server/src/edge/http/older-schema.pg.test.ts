import { describe, expect, test } from "vitest";
import { startApp } from "../../testing/app.ts";
import { LATEST, NEWER, OLDER, olderTenant, RENAME } from "../../testing/renamed-fields.ts";

// What pages with an older schema read and write is in the conformance suite.

const app = await startApp();
const second = await app.another();
const SLIDE = { id: "a", data: { title: "One", note: "n" } };

/** Both pages, after the push. */
async function renamed() {
  const { push, page, age } = await olderTenant(app);
  const older = page(OLDER);
  await older("POST", "/v1/models/slide", SLIDE);
  await push(NEWER, RENAME);
  await push(LATEST);
  return { page, age, older, newer: page(LATEST) };
}

describe("[M34] a schema is spoken for 30 days after the push that changed a name", () => {
  test.each([
    ["reads", "GET", "/v1/models/slide/a", undefined],
    ["lists", "GET", "/v1/models/slide", undefined],
    ["the log", "GET", "/v1/log", undefined],
    ["snapshots", "GET", "/v1/snapshot", undefined],
    ["writes", "PATCH", "/v1/models/slide/a", { data: { note: "x" } }],
    ["commits", "POST", "/v1/commits", { operations: [{ action: "delete", model: "slide", id: "a" }] }],
    ["claims", "POST", "/v1/models/slide/a/claim", { field: "title" }],
  ])("%s", async (_, method, path, json) => {
    const { older, newer, page, age } = await renamed();
    await age(31);
    const late = await older(method, path, json);
    expect(late.status).toBe(400);
    expect(late.body).toMatchObject({ code: "schema_too_old", message: expect.stringContaining("Reload the page") });
    expect((await page("1")(method, path, json)).body).toMatchObject({ code: "schema_too_old" });
    expect((await newer("GET", "/v1/models/slide/a")).body.data).toMatchObject({ note: "n" });
  });

  test("and until then", async () => {
    const { older, age } = await renamed();
    await age(29);
    expect((await older("GET", "/v1/models/slide/a")).body.data).toMatchObject({ title: "One" });
  });

  test("a client whose names are the same is served for ever", async () => {
    const { push, page, age } = await olderTenant(app);
    const deck = (field: string) => ({ ...OLDER, Deck: { fields: { [field]: { type: "string" as const } } } });
    await push(deck("name"));
    await push(deck("label"), { renames: [{ model: "deck", from: "name", to: "label" }] });
    await age(100);
    expect((await page(OLDER)("POST", "/v1/models/slide", SLIDE)).status).toBe(200);
  });
});

describe("[M35] a push through another server", () => {
  test.each([
    ["alone", (ask: Ask) => ask("PATCH", "/v1/models/slide/a", { data: { title: "Two" } })],
    ["in a batch", (ask: Ask) => ask("POST", "/v1/commits", { operations: [UPDATE] })],
    [
      "in a bulk",
      (ask: Ask) => ask("POST", "/v1/commits/bulk", { commits: [{ clientTxId: "one", operations: [UPDATE] }] }),
    ],
    [
      "in a bulk, behind a commit that it depends on",
      (ask: Ask) =>
        ask("POST", "/v1/commits/bulk", {
          commits: [
            { clientTxId: "one", operations: [{ ...UPDATE, data: { title: "One and a half" } }] },
            { clientTxId: "two", operations: [UPDATE] },
          ],
        }),
    ],
  ])("is known to the next write %s: it lands in the field that its client means", async (_, write) => {
    const { push, page } = await olderTenant(app);
    const older = page(OLDER);
    await older("POST", "/v1/models/slide", SLIDE);
    await push(NEWER, RENAME, second.call);
    // By now the name is that of another field, so that a write that is not translated would be taken.
    await push(LATEST, {}, second.call);
    const answer = await write(older);
    expect(answer.status).toBe(200);
    expect(answer.text).not.toContain("rejected");
    expect((await page(LATEST)("GET", "/v1/models/slide/a")).body.data).toEqual({ id: "a", heading: "Two", note: "n" });
  });

  test.each([
    ["reads", (ask: Ask) => ask("GET", "/v1/models/slide/a")],
    ["lists", (ask: Ask) => ask("GET", "/v1/models/slide?title=One")],
    ["the log", (ask: Ask) => ask("GET", "/v1/log")],
    ["snapshots", (ask: Ask) => ask("GET", "/v1/snapshot")],
    ["histories", (ask: Ask) => ask("GET", "/v1/models/slide/a/history")],
    ["claims", (ask: Ask) => ask("POST", "/v1/models/slide/a/claim", { field: "title" })],
  ])("is known to the next request: %s", async (_, ask) => {
    const { push, page } = await olderTenant(app);
    const older = page(OLDER);
    await older("POST", "/v1/models/slide", SLIDE);
    await ask(older);
    await push(NEWER, RENAME, second.call);
    const answer = await ask(older);
    expect(answer.status).toBeLessThan(300);
    expect(answer.text).toContain('"title"');
    expect(answer.text).not.toContain('"heading"');
  });
});

const UPDATE = { action: "update", model: "slide", id: "a", data: { title: "Two" } };

type Ask = ReturnType<Awaited<ReturnType<typeof olderTenant>>["page"]>;
