import fc from "fast-check";
import { expect, test } from "vitest";
import { startApp } from "../testing/app.ts";

const { call } = await startApp();
const text = { type: "string", nullable: true };
const found = { ...text, index: true };
const pushed = await call("POST", "/v1/schema", {
  json: {
    models: {
      slide: { fields: { deckId: found }, groups: [{ kind: "deck", from: "deckId" }] },
      comment: {
        fields: { deckId: found, owner: text },
        groups: [
          { kind: "deck", from: "deckId" },
          { kind: "user", from: "owner" },
        ],
      },
      page: { fields: { title: text }, groups: [{ kind: "page", from: "id" }] },
      level: { fields: { n: { type: "number", index: true, nullable: true } }, groups: [{ kind: "level", from: "n" }] },
      plain: { fields: { title: text } },
    },
    force: true,
  },
});
if (pushed.status !== 201) throw new Error(pushed.text);

const decks = ["d", "D", "d:1", "é", null];
const made = [
  ...decks.map((deckId, n) => ["slide", `s${n}`, { deckId }, deckId ? [`deck:${deckId}`] : []] as const),
  ...decks.flatMap((deckId, n) =>
    ["ann", null].map((owner) => {
      const groups = [...(deckId ? [`deck:${deckId}`] : []), ...(owner ? [`user:${owner}`] : [])];
      return ["comment", `c${n}${owner}`, { deckId, owner }, groups] as const;
    }),
  ),
  ...["p1", "p2"].map((id) => ["page", id, {}, [`page:${id}`]] as const),
  ...[1, 1.5, -0, 1e21].map((n, i) => ["level", `l${i}`, { n }, [`level:${n}`]] as const),
  ["plain", "x", {}, []] as const,
];
for (const [model, id, data] of made) {
  const { status, text: answer } = await call("POST", `/v1/models/${model}`, { json: { id, data } });
  expect(status, answer).toBe(200);
}

async function snapshot(groups: readonly string[], more = ""): Promise<string[]> {
  const names: string[] = [];
  const asked = groups.map((group) => `&group=${encodeURIComponent(group)}`).join("");
  for (let cursor = ""; ; ) {
    const { status, text: answer } = await call("GET", `/v1/snapshot?limit=3${asked}${more}${cursor}`);
    expect(status, answer).toBe(200);
    const lines = answer
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    names.push(...lines.slice(1, -1).map(({ model, id }) => `${model} ${id}`));
    const { next_cursor } = lines.at(-1);
    if (next_cursor === null) return names;
    cursor = `&starting_after=${encodeURIComponent(next_cursor)}`;
  }
}

test("[R69] a snapshot of some groups has their records and no others, whether an index finds them or not", async () => {
  const known = [...new Set(made.flatMap(([, , , groups]) => groups))];
  const group = fc.constantFrom(...known, "deck:none", "user:none", "page:none", "level:2", "other:d");
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(group, { minLength: 1, maxLength: 5 }), async (groups) => {
      const wanted = made.flatMap(([model, id, , of]) =>
        of.some((one) => groups.includes(one)) ? [`${model} ${id}`] : [],
      );
      expect(await snapshot(groups)).toEqual(wanted.sort());
    }),
    { numRuns: 60, seed: 69 },
  );
});

test("[R69] beside conditions, both hold", async () => {
  const where = encodeURIComponent(JSON.stringify({ comment: { owner: "ann" }, page: [] }));
  expect(await snapshot(["deck:d", "page:p1"], `&where=${where}`)).toEqual(["comment c0ann", "slide s0"]);
});
