import { absent, atLeast, orNull, position, row, someText, time } from "../../assertions/pattern.ts";
import { NOTE, OWNED, WHOLE } from "../../environment/models.ts";
import type { Kit } from "../../kit/kit.ts";
import { schemaTenant } from "../../kit/schema-tenant.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import type { Answer } from "../../protocol/answers.ts";

const notes = `/v1/models/${NOTE}`;
type Line = Readonly<Record<string, unknown>>;

function linesOf(t: Kit, answer: Answer): { start: Line; rows: readonly Line[]; end: Line } {
  t.answered(answer, 200);
  t.fits(answer.headers["content-type"], /^application\/x-ndjson\b/, "the content type");
  const lines = answer.text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
  const [start, ...rest] = lines;
  const end = rest.at(-1) ?? {};
  t.fits(start, { object: "snapshot", stamp: position, logId: /^log_/ }, "the first line");
  t.fits(end, { object: "snapshot_end", count: rest.length - 1, next_cursor: orNull(someText) }, "the last line");
  return { start: start ?? {}, rows: rest.slice(0, -1), end };
}

/** The records of all pages. */
async function allRows(t: Kit, address: string): Promise<readonly Line[]> {
  const all: Line[] = [];
  for (let cursor = ""; ; ) {
    const { rows, end } = linesOf(t, await t.get(address + cursor));
    all.push(...rows);
    if (end.next_cursor === null) return all;
    cursor = `&starting_after=${encodeURIComponent(String(end.next_cursor))}`;
  }
}

const byId = (a: unknown, b: unknown) => (String((a as Line).id) < String((b as Line).id) ? -1 : 1);

async function threeNotes(t: Kit) {
  const { deckId, group } = t.deck();
  const ids = [0, 1, 2].map((i) => `${deckId}-${i}`);
  for (const id of [...ids].reverse()) t.answered(await t.post(notes, { id, data: { deckId } }), 200);
  return { deckId, group, ids };
}

export const section: SuiteSection = {
  title: "The snapshot",
  cases: [
    check(
      "[G18] A line of a snapshot says when and by which participant a record was created and changed.",
      async (t) => {
        const { group, ids } = await threeNotes(t);
        const [first, second] = ids.map((id) => `${notes}/${id}`) as [string, string];
        t.answered(await t.patch(first, { data: { title: "changed" } }), 200);
        t.answered(await t.post(`${second}/archive`, {}), 200);
        const { rows } = linesOf(t, await t.get(`/v1/snapshot?group=${group}`));
        for (const [at, row] of rows.entries()) {
          const { createdAt, createdBy, updatedAt, updatedBy } = (await t.get(`${notes}/${row.id}`)).body;
          t.fits(row, { createdAt: String(createdAt), createdBy: String(createdBy) }, "a line");
          const changed = { updatedAt: String(updatedAt), updatedBy: String(updatedBy) };
          t.fits(row, at < 2 ? changed : { updatedAt: absent, updatedBy: absent }, "a line");
        }
      },
    ),
    check(
      "[G7] A snapshot is lines of JSON: a first line with stamp and logId, the records, and a last line with their count.",
      async (t) => {
        const { group, ids, deckId } = await threeNotes(t);
        const { rows, end, start } = linesOf(t, await t.get(`/v1/snapshot?group=${group}`));
        t.is(
          rows.map(({ id }) => id),
          ids,
          "the ids, in order",
        );
        for (const row of rows)
          t.fits(
            row,
            { model: NOTE, id: someText, syncId: atLeast(1), archivedAt: absent, data: { deckId, order: 0 } },
            "a record",
          );
        t.is(end.next_cursor, null, "next_cursor of the last page");
        t.that(
          Number(start.stamp) >= Math.max(...rows.map(({ syncId }) => Number(syncId))),
          "a stamp from the last position",
        );
      },
    ),
    check("[G7] Records are ordered by model, then id.", async (t) => {
      const { ids } = await threeNotes(t);
      t.answered(await t.post(`/v1/models/${WHOLE}`, { id: t.id(), data: {} }), 200);
      const rows = await allRows(t, `/v1/snapshot?model=${WHOLE}&model=${NOTE.toLowerCase()}`);
      const keys = rows.map(({ model, id }) => `${String(model).toLowerCase()} ${id}`);
      t.is(
        keys,
        [...keys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
        "model and id of each record",
      );
      t.is(new Set(rows.map(({ model }) => model)), new Set([NOTE, WHOLE]), "the models");
      t.that(
        ids.every((id) => rows.some((row) => row.id === id)),
        "the three notes to be among them",
      );
    }),
    check(
      "[G7] A snapshot has pages: each record appears once, and all pages have the stamp of the first.",
      async (t) => {
        const { group, ids } = await threeNotes(t);
        const found: unknown[] = [];
        const stamps = new Set<unknown>();
        let cursor = "";
        for (let page = 0; page < 10; page++) {
          const { start, rows, end } = linesOf(t, await t.get(`/v1/snapshot?group=${group}&limit=1${cursor}`));
          t.that(rows.length <= 1, "at most one record on a page", rows.length);
          stamps.add(start.stamp);
          found.push(...rows.map(({ id }) => id));
          // Writes between two pages are in the log after the stamp.
          await t.note();
          if (end.next_cursor === null) break;
          cursor = `&starting_after=${encodeURIComponent(String(end.next_cursor))}`;
        }
        t.is(found, ids, "the ids over all pages");
        t.is(stamps.size, 1, "different stamps");
      },
    ),
    check("[G24] where selects the records that meet conditions, or those of one of several.", async (t) => {
      const { group, deckId, ids } = await threeNotes(t);
      for (const [i, id] of ids.entries())
        t.answered(await t.patch(`${notes}/${id}`, { data: { order: i, tags: [`t${i}`] } }), 200);
      const shown = async (...conditions: object[]) => {
        const wanted = encodeURIComponent(JSON.stringify({ [NOTE]: conditions.map((one) => ({ deckId, ...one })) }));
        return (await allRows(t, `/v1/snapshot?group=${group}&limit=1&where=${wanted}`)).map(({ id }) => id);
      };
      t.is(await shown({}), ids, "all of the deck");
      t.is(await shown({ order: { gt: 0 } }), ids.slice(1), "from a number on");
      t.is(await shown({ order: 0 }, { tags: { contains: "t2" } }), [ids[0], ids[2]], "one of two conditions");
      t.is(await shown({ id: { in: [ids[1], "another"] } }), [ids[1]], "one id");
      t.is(await shown({ title: null, order: { lte: 1 } }), ids.slice(0, 2), "without a value");
      t.is(await shown(), [], "no alternative");
    }),
    check("[G7] [M9] A snapshot whose rows a push changed between two pages is begun anew: 410.", async (t) => {
      const { name, token, push, create } = await schemaTenant(t);
      t.answered(await push({ fields: { a: { type: "string" } } }), 201);
      for (const a of ["1", "2"]) await create({ a });
      const address = `/v1/snapshot?model=${name}&limit=1`;
      const { end } = linesOf(t, await t.get(address, { token }));
      const next = () => t.get(`${address}&starting_after=${encodeURIComponent(String(end.next_cursor))}`, { token });
      t.answered(await next(), 200);
      t.answered(await push({ fields: { a: { type: "string" }, c: { type: "string" } } }), 201);
      t.answered(await next(), 200);
      const renames = [{ model: name, from: "a", to: "b" }];
      t.answered(await push({ fields: { b: { type: "string" }, c: { type: "string" } } }, { renames }), 201);
      t.answered(await next(), 410, { code: "resync_required" });
    }),
    check("[R69] A snapshot of some groups has their records and no others, also beside conditions.", async (t) => {
      const [one, two] = [await threeNotes(t), await threeNotes(t)];
      const alone = await t.note();
      const owned = t.id();
      t.answered(await t.post(`/v1/models/${OWNED}`, { id: owned, data: { deckId: two.deckId } }), 200);
      const shown = async (groups: readonly string[], more = "") => {
        const asked = groups.map((group) => `&group=${group}`).join("");
        return (await allRows(t, `/v1/snapshot?limit=2${asked}${more}`)).map(({ id }) => id);
      };
      t.is(await shown([two.group, "confdeck:none"]), [...two.ids, owned], "the records of one group");
      const both = [...one.ids, ...two.ids, alone.id].sort();
      t.is(await shown([one.group, two.group, alone.group]), [...both, owned], "the records of three groups");
      const where = encodeURIComponent(JSON.stringify({ [OWNED]: [], [NOTE]: { id: { in: [one.ids[0], alone.id] } } }));
      t.is(
        await shown([one.group, two.group], `&where=${where}`),
        [one.ids[0]],
        "the records that meet conditions too",
      );
    }),
    check("[R69] So it is with records of several groups, whether their fields are indexed or not.", async (t) => {
      for (const index of [true, false]) {
        const { name, token, push, create } = await schemaTenant(t);
        const field = { type: "string", nullable: true, index };
        const groups = [
          { kind: "conftry", from: "deck" },
          { kind: "confown", from: "owner" },
        ];
        t.answered(await push({ fields: { deck: field, owner: field }, groups }), 201);
        const [a, b, c] = [
          await create({ deck: "1" }),
          await create({ owner: "1" }),
          await create({ deck: "1", owner: "2" }),
        ];
        await create({});
        for (const [asked, found] of [
          [["conftry:1"], [a, c]],
          [
            ["confown:1", "confown:2"],
            [b, c],
          ],
          [
            ["conftry:1", "confown:1"],
            [a, b, c],
          ],
          [["confown:3", `confself:${a.id}`], []],
        ] as const) {
          const query = asked.map((group) => `&group=${group}`).join("");
          const { rows } = linesOf(t, await t.get(`/v1/snapshot?model=${name}${query}`, { token }));
          t.is(
            rows.map(({ id }) => id),
            found.map(({ id }) => id).sort(),
            `the records of ${asked.join(" and ")}`,
          );
        }
      }
    }),
    check("[G7] A snapshot has archived records, with archivedAt, and no deleted ones.", async (t) => {
      const { group, ids, deckId } = await threeNotes(t);
      t.answered(await t.post(`${notes}/${ids[0]}/archive`), 200);
      t.answered(await t.remove(`${notes}/${ids[1]}`), 200);
      const { rows } = linesOf(t, await t.get(`/v1/snapshot?group=${group}`));
      t.fits(
        rows,
        [
          { id: String(ids[0]), archivedAt: time, data: row({ id: ids[0], deckId, order: 0 }) },
          { id: String(ids[2]), archivedAt: absent },
        ],
        "the records",
      );
    }),
    check(
      "[G7] A row has the position of its last entry; the snapshot and the log after its stamp give the present state.",
      async (t) => {
        const { group, ids } = await threeNotes(t);
        const answers = await Promise.all([
          t.get(`/v1/snapshot?group=${group}`),
          ...Array.from({ length: 12 }, (_, i) => t.patch(`${notes}/${ids[i % 3]}`, { data: { order: i } })),
        ]);
        const { start, rows } = linesOf(t, answers[0] as Answer);
        const state = new Map(rows.map(({ id, syncId, data }) => [id, { syncId: Number(syncId), data }]));
        for (const entry of await t.entries(Number(start.stamp), ids))
          if (entry.syncId > (state.get(entry.id)?.syncId ?? 0))
            state.set(entry.id, { syncId: entry.syncId, data: entry.data as Line });
        for (const id of ids) {
          const { body } = t.answered(await t.get(`${notes}/${id}`), 200);
          t.is(state.get(id), { syncId: body.syncId, data: body.data }, `what adds up for ${id}`);
        }
      },
    ),
    ...checkEach(
      [
        ...["limit=0", "limit=10001", "limit=abc", "colour=1", "starting_after=x", "group=nothing", "group=deck:%00"],
        ...["model=nothing", "model=%00"],
      ],
      (query) => `[H6] GET /v1/snapshot?${query} is 400, and the parameter is named.`,
      async (t, query) =>
        t.answered(await t.get(`/v1/snapshot?${query}`), 400, {
          type: "validation_error",
          param: query.split("=")[0] ?? "",
        }),
    ),
    check(
      "[G7] The pages and the log after their stamp give the present state, whatever is written between them.",
      async (t) => {
        const { deckId, group } = t.deck();
        const name = (n: number) => `${deckId}-${String(n).padStart(2, "0")}`;
        const create = (id: string) => ({ action: "create", model: NOTE, id, data: { deckId } });
        t.answered(await t.commit(Array.from({ length: 40 }, (_, n) => create(name(n)))), 200);
        const state = new Map<unknown, Line>();
        let [cursor, stamp] = ["", 0];
        for (let page = 0; page < 10; page++) {
          const { start, rows, end } = linesOf(t, await t.get(`/v1/snapshot?group=${group}&limit=7${cursor}`));
          stamp = Number(start.stamp);
          for (const row of rows) state.set(row.id, row);
          t.answered(await t.patch(`${notes}/${name(page)}`, { data: { order: page } }), 200);
          t.answered(await t.remove(`${notes}/${name(10 + page)}`), 200);
          t.answered(await t.post(`${notes}/${name(20 + page)}/archive`), 200);
          t.answered(await t.patch(`${notes}/${name(30 + page)}`, { data: { order: page } }), 200);
          t.answered(await t.commit([create(`${deckId}-new${page}`)]), 200);
          if (end.next_cursor === null) break;
          cursor = `&starting_after=${encodeURIComponent(String(end.next_cursor))}`;
        }
        for (const { id, syncId, verb, data, createdAt } of await t.entries(stamp)) {
          const before = state.get(id);
          if (!String(id).startsWith(deckId) || syncId <= Number(before?.syncId ?? 0)) continue;
          if (verb === "deleted") state.delete(id);
          else state.set(id, { id, syncId, data, archivedAt: verb === "archived" ? createdAt : before?.archivedAt });
        }
        const now = await t.listed(`${notes}?filter[deckId]=${deckId}&state=all`);
        t.is([...state.values()].map(({ data }) => data).sort(byId), [...now].sort(byId), "the records");
        const archived = await t.listed(`${notes}?filter[deckId]=${deckId}&state=archived`);
        t.is(
          [...state.values()]
            .filter(({ archivedAt }) => archivedAt)
            .map(({ id }) => id)
            .sort(),
          archived.map(({ id }) => id).sort(),
          "those that are archived",
        );
      },
    ),
    check("[G4] A cursor belongs to its snapshot: with other groups it is 400 invalid_cursor.", async (t) => {
      const [{ group }, { group: other }] = [await threeNotes(t), t.deck()];
      const { end } = linesOf(t, await t.get(`/v1/snapshot?group=${group}&limit=1`));
      const cursor = encodeURIComponent(String(end.next_cursor));
      t.refused(await t.get(`/v1/snapshot?group=${other}&limit=1&starting_after=${cursor}`), "invalid_cursor");
    }),
  ],
};
