import { absent, exactly } from "../../assertions/pattern.ts";
import { NOTE } from "../../environment/models.ts";
import {
  agent,
  claim,
  granted,
  person,
  queued,
  readClaim,
  refusedFor,
  release,
  renew,
  scene,
  write,
} from "../../kit/claim-kit.ts";
import { check, type SuiteSection } from "../../kit/section.ts";

export const section: SuiteSection = {
  title: "Claim ends",
  cases: [
    check(
      "[A9] A release answers with a count and can be repeated; a release by record ends all claims that the caller has there.",
      async (t) => {
        const [note, ann, bob] = await scene(t, 2);
        const held = await granted(t, ann, note);
        t.answered(await release(t, ann, held), 200, exactly({ object: "claim_release", released: 1 }) as never);
        t.answered(await release(t, ann, held), 200, { released: 0 });
        t.answered(await readClaim(t, ann, held), 200, { status: "released", expiresAt: absent });
        for (const field of ["title", "body"]) await granted(t, ann, note, { field });
        const others = await granted(t, bob, note, { field: "order" });
        t.answered(await t.remove(`${note.path}/claim`, { token: ann.token }), 200, {
          object: "claim_release",
          released: 2,
        });
        t.answered(await t.remove(`${note.path}/claim`, { token: ann.token }), 200, { released: 0 });
        t.answered(await readClaim(t, bob, others), 200, { status: "active" });
      },
    ),
    check(
      "[A9] Releasing or renewing another participant's claim is 403 not_claim_holder; an unknown claim is 404.",
      async (t) => {
        const [note, ann, bob] = await scene(t, 2);
        const held = await granted(t, ann, note);
        t.refused(await release(t, bob, held), "not_claim_holder");
        t.refused(await renew(t, bob, held), "not_claim_holder");
        t.answered(await readClaim(t, bob, held), 200, { status: "active", actor: ann.name });
        for (const answer of [
          await readClaim(t, ann, "claim_never"),
          await renew(t, ann, "claim_never"),
          await release(t, ann, "claim_never"),
        ])
          t.refused(answer, "claim_not_found");
      },
    ),
    check("[A13] A person with claim.preempt takes a claim from an agent at once, ahead of the queue.", async (t) => {
      const [note, ann, bob] = await scene(t, 2);
      const held = await granted(t, ann, note);
      const waits = await queued(t, bob, note);
      const eve = await person(t, note.group);
      const { body } = t.answered(await claim(t, eve, note, { preempt: true }), 201, {
        status: "active",
        participantKind: "user",
      });
      t.answered(await readClaim(t, ann, held), 200, { status: "preempted" });
      t.answered(await readClaim(t, bob, waits), 200, { status: "queued", position: 0 });
      refusedFor(t, await write(t, ann, note, { claim: held }), "claim_lost", [String(body.id)]);
    }),
    check(
      "[A13] Preempting a person's claim, or preempting as an agent, is 403 preempt_denied; without claim.preempt it is 403 capability_scope_denied.",
      async (t) => {
        const [note, ann] = await scene(t, 1);
        const [eve, dan] = [await person(t, note.group), await person(t, note.group)];
        const held = await granted(t, eve, note);
        t.refused(await claim(t, dan, note, { preempt: true }), "preempt_denied");
        const armed = await agent(t, note.group, { operations: [`${NOTE}.*`, "claim.preempt"] });
        await release(t, eve, held);
        await granted(t, ann, note);
        t.refused(await claim(t, armed, note, { preempt: true }), "preempt_denied");
        const plain = await t.ephemeral({ user: { id: t.id() }, operations: [`${NOTE}.*`], syncGroups: [note.group] });
        t.refused(await claim(t, plain, note, { preempt: true }), "capability_scope_denied", {
          body: { requiredCapability: { can: "preempt", model: NOTE, scope: "claim.preempt" } },
        });
      },
    ),
    check("[A15] Deleting a record ends its claims.", async (t) => {
      const [note, ann, bob] = await scene(t, 2);
      const held = await granted(t, ann, note);
      const waits = await queued(t, bob, note);
      t.answered(await t.remove(note.path, { token: ann.token }), 200);
      t.answered(await readClaim(t, ann, held), 200, { status: "canceled" });
      t.answered(await readClaim(t, bob, waits), 200, { status: "canceled" });
    }),
    check(
      "[A15] Revoking a token ends its claims, and the next waiter gets them; rotating a token does not.",
      async (t) => {
        const [note, ann, bob] = await scene(t, 2);
        const held = await granted(t, ann, note);
        const waits = await queued(t, bob, note);
        const rotated = t.answered(await t.post(`/v1/capabilities/${ann.id}/rotate`, {}), 201).body;
        t.after(() => t.environment.ask("DELETE", `/v1/capabilities/${rotated.id}`));
        const fresh = { token: String(rotated.token) };
        // The new token is of the same participant: it holds the claim, which from now on depends on this token.
        t.answered(await renew(t, fresh, held), 200, { id: held, status: "active" });
        t.answered(await claim(t, fresh, note), 200, { id: held, status: "active" });
        t.answered(await t.remove(`/v1/capabilities/${rotated.id}`), 200);
        t.answered(await readClaim(t, bob, waits, 10_000), 200, { status: "active" });
      },
    ),
  ],
};
