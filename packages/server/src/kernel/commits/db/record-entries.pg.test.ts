import fc from "fast-check";
import { expect, test } from "vitest";
import { freshClient } from "../../../testing/fresh-connection.ts";
import { session } from "../../connection/pool.ts";
import { readRecordHistory } from "../../log/db/log.ts";
import { loadHistory } from "./history.ts";

const { client } = await freshClient(session);

interface Line {
  readonly syncId: number;
  readonly id: string;
  readonly verb: "created" | "updated" | "deleted";
  readonly group: string;
}

const [tenant, model] = [1, "slide"];
const ids = ["a", "b"];

/** What one record after the other does next: comes into being, or changes, or ends. */
const story = fc.array(
  fc.record({ id: fc.constantFrom(...ids), ends: fc.boolean(), group: fc.constantFrom("near", "far") }),
  { maxLength: 30 },
);

/** Writes a log as the lane leaves it, with the rows that it adds up to. */
async function write(steps: readonly { id: string; ends: boolean; group: string }[]): Promise<Line[]> {
  const alive = new Map<string, number>();
  const entries: Line[] = [];
  await client.query("truncate holdfast.log, holdfast.record");
  for (const [i, { id, ends, group }] of steps.entries()) {
    const syncId = i + 1;
    const made = alive.get(id);
    const verb = made === undefined ? "created" : ends ? "deleted" : "updated";
    entries.push({ syncId, id, verb, group });
    await client.query(
      `insert into holdfast.log (tenant, sync_id, model, id, verb, groups, client_tx_id, actor, participant_kind, created_at, created_sync_id)
       values ($1, $2, $3, $4, $5, $6, '', '', 'system', now(), $7)`,
      [tenant, syncId, model, id, verb, [group], verb === "deleted" ? made : null],
    );
    if (verb === "created") alive.set(id, syncId);
    if (verb === "deleted") alive.delete(id);
  }
  for (const [id, made] of alive)
    await client.query(
      "insert into holdfast.record values ($1, $2, $3, $4, '{}', '{}', null, $5, '', now(), now(), '')",
      [tenant, model, id, entries.findLast((entry) => entry.id === id)?.syncId, made],
    );
  return entries;
}

const positions = (entries: readonly { syncId: number }[]) => entries.map(({ syncId }) => syncId);

test("[G12] [G13] a record's lines are those of the log that name it, in pages of any size, from anywhere, in either order, trimmed or not", async () => {
  await fc.assert(
    fc.asyncProperty(
      story,
      fc.nat(30),
      fc.integer({ min: 1, max: 8 }),
      fc.nat(10),
      async (steps, from, limit, trim) => {
        const written = (await write(steps)).filter(({ syncId }) => syncId > trim);
        await client.query("delete from holdfast.log where sync_id <= $1", [trim]);
        for (const id of ids)
          for (const groups of [undefined, ["near"]])
            for (const descending of [false, true])
              for (const after of [undefined, from]) {
                const wanted = written.filter(
                  (entry) =>
                    entry.id === id &&
                    (groups?.includes(entry.group) ?? true) &&
                    (after === undefined || (descending ? entry.syncId < after : entry.syncId > after)),
                );
                const question = { tenant, model, id, groups, after, descending, limit, bytes: 1_000_000 };
                const { entries, hasMore } = await readRecordHistory(client, question);
                expect(hasMore).toBe(wanted.length > limit);
                expect(positions(entries)).toEqual(
                  positions(descending ? wanted.toReversed() : wanted).slice(0, limit),
                );
              }
      },
    ),
    { seed: 20_260_131, numRuns: 40 },
  );
});

test("[S8] the changes of several records since they were read are loaded with one query, with creation and deletion", async () => {
  await fc.assert(
    fc.asyncProperty(story, fc.nat(30), fc.nat(30), async (steps, first, second) => {
      const entries = await write(steps);
      const questions = [
        { tenant, model, id: "a", after: first },
        { tenant, model, id: "b", after: second },
        { tenant, model: "other", id: "a", after: 0 },
      ];
      const { text, values, read } = loadHistory(questions);
      const lists = read((await client.query(text, [...values])).rows, "SELECT");
      expect(lists.map(positions)).toEqual(
        questions.map(({ model: asked, id, after }) =>
          positions(entries.filter((entry) => asked === model && entry.id === id && entry.syncId > after)),
        ),
      );
      for (const { syncId, verb } of lists.flat()) expect(verb).toBe(entries[syncId - 1]?.verb);
    }),
    { seed: 20_260_131, numRuns: 40 },
  );
});
