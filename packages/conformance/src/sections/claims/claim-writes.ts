import { atLeast } from "../../assertions/pattern.ts";
import { NOTE } from "../../environment/models.ts";
import { claim, granted, queued, refusedFor, release, renew, scene, write } from "../../kit/claim-kit.ts";
import type { CreatedRecord, Kit } from "../../kit/kit.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import type { Answer, AskOptions } from "../../protocol/answers.ts";

const notes = `/v1/models/${NOTE}`;

/** Every kind of write to a record. */
const WRITES: readonly (readonly [
  what: string,
  write: (t: Kit, note: CreatedRecord, options: AskOptions) => Promise<Answer>,
])[] = [
  ["an update", (t, { path }, options) => t.patch(path, { data: { title: "x" } }, options)],
  [
    "an update with overwrite",
    (t, { path, at }, options) => t.patch(path, { data: { title: "x" }, readAt: at, onStale: "overwrite" }, options),
  ],
  [
    "an update with notify",
    (t, { path, at }, options) => t.patch(path, { data: { title: "x" }, readAt: at, onStale: "notify" }, options),
  ],
  ["a delete", (t, { path }, options) => t.remove(path, options)],
  ["an archive", (t, { path }, options) => t.post(`${path}/archive`, undefined, options)],
  [
    "a batch",
    (t, { id }, options) => t.commit([{ action: "update", model: NOTE, id, data: { title: "x" } }], {}, options),
  ],
];

export const section: SuiteSection = {
  title: "Claims and writes",
  cases: [
    ...checkEach(
      WRITES,
      ([what]) =>
        `[A11] ${what[0]?.toUpperCase()}${what.slice(1)} of a record that another participant has claimed is 409 claim_conflict with the holders, also for a secret key, and changes nothing.`,
      async (t, [, attempt]) => {
        const [note, ann, bob] = await scene(t, 2);
        const held = await granted(t, ann, note);
        for (const options of [{ token: bob.token }, {}]) {
          const answer = refusedFor(t, await attempt(t, note, options), "claim_conflict", [held]);
          t.fits(answer.body.receipt, { status: "rejected", error: { code: "claim_conflict" } }, "the receipt");
        }
        t.answered(await t.get(note.path), 200, { syncId: note.at, archivedAt: null });
      },
    ),
    check(
      "[A11] The holder can write, with and without naming the claim; the log entry has the claim that the write named.",
      async (t) => {
        const [note, ann] = await scene(t, 1);
        const held = await granted(t, ann, note);
        t.answered(await write(t, ann, note), 200, { status: "confirmed" });
        t.answered(await write(t, ann, note, { claim: held }), 200, { status: "confirmed" });
        const entries = await t.entries(note.at, [note.id]);
        t.is(
          entries.map((entry) => (entry as unknown as { claim: unknown }).claim),
          [null, held],
          "the claims in the log",
        );
      },
    ),
    check(
      "[A3] [A11] [A29] A claim on a field refuses writes of that field and of the record as a whole, and no others.",
      async (t) => {
        const [note, ann, bob] = await scene(t, 2);
        const held = await granted(t, ann, note, { field: "title" });
        const options = { token: bob.token };
        refusedFor(t, await t.patch(note.path, { data: { title: "x", order: 1 } }, options), "claim_conflict", [held]);
        refusedFor(t, await t.remove(note.path, options), "claim_conflict", [held]);
        refusedFor(t, await t.post(`${note.path}/archive`, undefined, options), "claim_conflict", [held]);
        t.answered(await t.patch(note.path, { data: { order: 1 } }, options), 200, { status: "confirmed" });
      },
    ),
    check(
      "[A11] [A31] [A30] [C13] A write that names a claim is 409 claim_lost with the holders, unless the writer holds that claim on that record.",
      async (t) => {
        const [note, ann, bob] = await scene(t, 2);
        const other = await t.note({ deckId: note.deckId });
        const held = await granted(t, ann, note);
        const waits = await queued(t, bob, note);
        refusedFor(t, await write(t, bob, note, { claim: held }), "claim_lost", [held], "claim");
        refusedFor(t, await write(t, bob, note, { claim: waits }), "claim_lost", [held], "claim");
        refusedFor(t, await write(t, ann, other, { claim: held }), "claim_lost", [], "claim");
        await release(t, ann, held);
        refusedFor(t, await write(t, ann, note, { claim: held }), "claim_lost", [waits], "claim");
        t.is(await t.entries(note.at, [note.id]), [], "the entries of the record");
      },
    ),
    check(
      "[A11] [A31] A claim conflict in a batch or a bulk names the operation and the holders, and nothing of that commit is written.",
      async (t) => {
        const [note, ann, bob] = await scene(t, 2);
        const held = await granted(t, ann, note);
        const options = { token: bob.token };
        const beside = { action: "create", model: NOTE, id: t.id(), data: { deckId: note.deckId } };
        const blocked = { action: "update", model: NOTE, id: note.id, data: { title: "x" } };
        const batch = await t.commit([beside, blocked], {}, options);
        refusedFor(t, batch, "claim_conflict", [held], /^operations\[1\]/);
        refusedFor(
          t,
          await t.commit([beside, { ...blocked, claim: held }], {}, options),
          "claim_lost",
          [held],
          "operations[1].claim",
        );
        const json = {
          commits: [
            { clientTxId: t.id(), operations: [blocked] },
            { clientTxId: t.id(), operations: [{ ...beside, id: t.id() }] },
          ],
        };
        t.answered(await t.ask("POST", "/v1/commits/bulk", { json, ...options }), 200, {
          data: [{ httpStatus: 409, code: "claim_conflict", claims: [{ id: held }] }, { httpStatus: 200 }],
        });
        t.refused(await t.get(`${notes}/${beside.id}`), "record_not_found");
      },
    ),
    check(
      "[A23] claimId is another name for claim; fenceToken is the fence of the writer's own active claim; null for either counts as absent.",
      async (t) => {
        const [note, ann, bob] = await scene(t, 2);
        const { id, fence } = t.answered(await claim(t, ann, note), 201, { fence: atLeast(1) }).body;
        const { token } = ann;
        const commit = (more: object) =>
          t.commit([{ action: "update", model: NOTE, id: note.id, data: { title: t.id() }, ...more }], {}, { token });
        for (const more of [
          { claimId: id, fenceToken: null },
          { claimId: null, fenceToken: null },
          { claimId: id, fenceToken: fence },
          { fenceToken: fence },
        ])
          t.answered(await commit(more), 200, { status: "confirmed" });
        t.answered(await write(t, ann, note, { fenceToken: fence }), 200);
        t.refused(await commit({ fenceToken: Number(fence) + 1 }), "claim_lost", { param: "operations[0].fenceToken" });
        t.answered(await commit({ fenceToken: String(fence) }), 400, { type: "validation_error" });
        await release(t, ann, id);
        t.refused(await commit({ fenceToken: fence }), "claim_lost");
        t.refused(await commit({ claimId: id }), "claim_lost", { param: "operations[0].claim" });
        await granted(t, ann, note);
        const order = [{ claimId: await queued(t, bob, note), heldBy: "eve" }];
        t.answered(await t.post(`${note.path}/claim/reorder`, { order, heldBy: null }), 200);
      },
    ),
    check("[A15] Claims write nothing into the log.", async (t) => {
      const [note, ann, bob] = await scene(t, 2);
      const held = await granted(t, ann, note);
      await queued(t, bob, note);
      await renew(t, ann, held);
      await release(t, ann, held);
      t.is(await t.entries(note.at, [note.id]), [], "the entries of the record");
    }),
  ],
};
