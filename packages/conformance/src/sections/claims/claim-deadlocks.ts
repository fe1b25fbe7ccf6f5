import { agent, claim, granted, queued, refusedFor, scene } from "../../kit/claim-kit.ts";
import { check, type SuiteSection } from "../../kit/section.ts";

export const section: SuiteSection = {
  title: "Claim deadlocks",
  cases: [
    check("[A8] A request that would make a participant wait for itself is 409 claim_deadlock.", async (t) => {
      const [one, ann, bob] = await scene(t, 2);
      const other = await t.note({ deckId: one.deckId });
      const held = await granted(t, ann, one);
      await granted(t, bob, other);
      await queued(t, ann, other);
      t.refused(await claim(t, bob, one, { queue: true }), "claim_deadlock", {
        body: { claims: [{ id: held }] },
      });
      refusedFor(t, await claim(t, bob, one), "claim_conflict", [held]);
    }),
    check(
      "[A8] A cycle over three records is 409 claim_deadlock, and so is one that runs through an earlier waiter of a queue.",
      async (t) => {
        const [one, ann, bob, eve] = await scene(t, 3);
        const [two, three] = [await t.note({ deckId: one.deckId }), await t.note({ deckId: one.deckId })];
        for (const [who, note] of [
          [ann, one],
          [bob, two],
          [eve, three],
        ] as const)
          await granted(t, who, note);
        await queued(t, ann, two);
        await queued(t, bob, three);
        t.refused(await claim(t, eve, one, { queue: true }), "claim_deadlock");
        // No holder waits for fay, but fay is queued behind ann, and ann would wait for fay.
        const fay = await agent(t, one.group);
        const four = await t.note({ deckId: one.deckId });
        await granted(t, fay, four);
        await queued(t, fay, two);
        t.refused(await claim(t, ann, four, { queue: true }), "claim_deadlock");
      },
    ),
    check("[A8] Reordering a queue so that a cycle closes is 409 claim_deadlock.", async (t) => {
      const [one, ann, bob, dan, fay] = await scene(t, 4);
      const two = await t.note({ deckId: one.deckId });
      await granted(t, ann, one);
      await granted(t, bob, two);
      for (const who of [dan, fay]) await queued(t, who, one);
      const queue = [await queued(t, dan, two), await queued(t, fay, two)];
      t.refused(await t.post(`${two.path}/claim/reorder`, { order: queue.toReversed() }), "claim_deadlock");
      t.answered(await t.post(`${two.path}/claim/reorder`, { order: queue }), 200);
    }),
  ],
};
