import { setTimeout as pause } from "node:timers/promises";
import { absent } from "../../assertions/pattern.ts";
import {
  agent,
  claim,
  granted,
  listClaims,
  queued,
  readClaim,
  refusedFor,
  release,
  scene,
} from "../../kit/claim-kit.ts";
import { check, type SuiteSection } from "../../kit/section.ts";

export const section: SuiteSection = {
  title: "Claim queue",
  cases: [
    check("[A1] [A28] A waiter that claims again keeps its place: 202.", async (t) => {
      const [note, ann, bob, eve] = await scene(t, 3);
      await granted(t, ann, note);
      const first = await queued(t, bob, note);
      await queued(t, eve, note);
      t.answered(await claim(t, bob, note, { queue: true }), 202, { id: first, position: 0 });
    }),
    check("[A5] The queue is first come, first served, and each grant on a record has a greater fence.", async (t) => {
      const [note, ...agents] = await scene(t, 6);
      const first = t.answered(await claim(t, agents[0], note), 201).body;
      const order = [String(first.id)];
      for (const one of agents.slice(1)) order.push(await queued(t, one, note));
      let fence = Number(first.fence);
      for (const [i, one] of agents.entries()) {
        const { claims, queue } = t.answered(await listClaims(t, note), 200).body as {
          claims: { id: string; fence: number }[];
          queue: { id: string }[];
        };
        t.is(
          [claims.map(({ id }) => id), queue.map(({ id }) => id)],
          [[order[i]], order.slice(i + 1)],
          "holder and queue",
        );
        if (i > 0) t.that((claims[0]?.fence ?? 0) > fence, `a fence above ${fence}`, claims[0]?.fence);
        fence = Number(claims[0]?.fence);
        await release(t, one, order[i]);
      }
    }),
    check(
      "[A5] A later request does not overtake a waiter that it conflicts with, even if its own field is free.",
      async (t) => {
        const [note, ann, bob, eve] = await scene(t, 3);
        const title = await granted(t, ann, note, { field: "title" });
        const whole = await queued(t, bob, note);
        // "body" is free, but bob waits for all of it.
        refusedFor(t, await claim(t, eve, note, { field: "body" }), "claim_conflict", [title]);
        const behind = await queued(t, eve, note, { field: "body" });
        await release(t, ann, title);
        t.answered(await readClaim(t, bob, whole), 200, { status: "active" });
        t.answered(await readClaim(t, eve, behind), 200, { status: "queued", position: 0 });
      },
    ),
    check(
      "[A16] A read with wait answers when the claim is granted or moves up, at once if the claim is not queued, and after the given time at the latest.",
      async (t) => {
        const [note, ann, bob, eve] = await scene(t, 3);
        const held = await granted(t, ann, note);
        const waits = await queued(t, bob, note);
        const behind = await queued(t, eve, note);
        const begun = performance.now();
        t.answered(await readClaim(t, ann, held, 25_000), 200, { status: "active" });
        t.that(performance.now() - begun < 24_000, "an answer before the time is over");
        t.answered(await readClaim(t, bob, waits, 300), 200, { status: "queued" });
        const polled = performance.now();
        const [answer, moved] = await Promise.all([
          readClaim(t, bob, waits, 25_000),
          readClaim(t, eve, behind, 25_000),
          // Both polls must have arrived by then: a poll that arrives after the move waits for the next one.
          pause(1_500).then(() => release(t, ann, held)),
        ]);
        t.answered(answer, 200, { status: "active" });
        t.answered(moved, 200, { status: "queued", position: 0 });
        t.that(performance.now() - polled < 24_000, "answers with the grant and the move");
        for (const wait of ["25001", "-1", "x"])
          t.answered(await t.get(`/v1/claims/${waits}?wait=${wait}`, { token: bob.token }), 400, {
            param: "wait",
          });
      },
    ),
    check("[A9] A waiter that leaves the queue is canceled, and the waiters behind it move up.", async (t) => {
      const [note, ann, bob, eve] = await scene(t, 3);
      await granted(t, ann, note);
      const leaves = await queued(t, bob, note);
      const behind = await queued(t, eve, note);
      t.answered(await release(t, bob, leaves), 200, { released: 1 });
      t.answered(await readClaim(t, bob, leaves), 200, { status: "canceled", position: absent });
      t.answered(await readClaim(t, eve, behind), 200, { position: 0 });
    }),
    check("[A8] A queue has room for a hundred waiters; the next one is 429 claim_queue_full.", async (t) => {
      const [note, ann] = await scene(t, 1);
      // On a busy server, a hundred requests can take longer than the default lease.
      await granted(t, ann, note, { ttl: "10m" });
      const waiters = await Promise.all(Array.from({ length: 100 }, () => agent(t, note.group)));
      for (const waiter of waiters) await queued(t, waiter, note);
      t.refused(await claim(t, await agent(t, note.group), note, { queue: true }), "claim_queue_full");
      t.that((t.answered(await listClaims(t, note), 200).body.queue as unknown[]).length === 100, "a hundred waiters");
    }),
    check(
      "[A14] A token with claim.reorder can reorder the queue; waiters that the order does not name come last.",
      async (t) => {
        const [note, ann, ...rest] = await scene(t, 4);
        await granted(t, ann, note);
        const queue: string[] = [];
        for (const one of rest) queue.push(await queued(t, one, note));
        const [first, second, third] = queue as [string, string, string];
        const path = `${note.path}/claim/reorder`;
        t.answered(await t.post(path, { order: [third, { claimId: first }] }), 200, {
          object: "list",
          queue: [{ id: third }, { id: first }, { id: second }],
        });
        t.refused(await t.post(path, { order: [first] }, { token: ann.token }), "capability_scope_denied", {
          body: { requiredCapability: { scope: "claim.reorder" } },
        });
        t.refused(await t.post(path, { order: ["claim_never"] }), "claim_not_found", { param: /^order\[0\]/ });
        t.refused(await t.post(path, { order: [first, first] }), "invalid_value", { param: "order[1]" });
        t.answered(await t.post(path, { order: [1] }), 400, { type: "validation_error" });
        t.answered(await t.remove(`${note.path}/claim`, { token: ann.token }), 200);
        t.answered(await listClaims(t, note), 200, { claims: [{ id: third }] });
      },
    ),
    check(
      "[A7] The server skips and cancels a waiter whose token was revoked or whose record has left its groups.",
      async (t) => {
        const [note, gone, moved] = await scene(t, 2);
        const next = t.deck();
        const ann = await agent(t, note.group, { syncGroups: [note.group, next.group] });
        const held = await granted(t, ann, note);
        const canceled = [await queued(t, gone, note), await queued(t, moved, note)];
        const eve = await agent(t, next.group, { syncGroups: [note.group, next.group] });
        const waits = await queued(t, eve, note);
        t.answered(await t.remove(`/v1/capabilities/${gone.id}`), 200);
        t.answered(await t.patch(note.path, { data: { deckId: next.deckId } }, { token: ann.token }), 200);
        await release(t, ann, held);
        t.answered(await readClaim(t, eve, waits, 10_000), 200, { status: "active" });
        for (const id of canceled) t.answered(await t.get(`/v1/claims/${id}`), 200, { status: "canceled" });
      },
    ),
  ],
};
