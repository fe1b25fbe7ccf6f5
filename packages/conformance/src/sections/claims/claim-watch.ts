import { atLeast, exactly, listOf, time } from "../../assertions/pattern.ts";
import { NOTE, WHOLE } from "../../environment/models.ts";
import { agent, granted, queued, release, renew, scene } from "../../kit/claim-kit.ts";
import { check, type SuiteSection } from "../../kit/section.ts";

export const section: SuiteSection = {
  title: "Claims on the stream",
  cases: [
    check(
      "[A17] The server answers watch with one claims frame for each record, also for a free one, and sends the whole state after each change.",
      async (t) => {
        const [note, ann, bob] = await scene(t, 2);
        const free = await t.note();
        const stream = await t.connect();
        stream.send({ frame: "watch", model: NOTE.toLowerCase(), ids: [note.id, free.id, t.id()] });
        for (const { id } of [note, free])
          t.fits(
            await stream.next("claims", { id }),
            { model: NOTE, claims: exactly([]), queue: exactly([]) },
            "the first state",
          );
        const held = await granted(t, ann, note);
        t.fits(
          await stream.next("claims", { id: note.id }),
          { claims: [{ object: "claim", id: held, status: "active" }], queue: exactly([]) },
          "after the grant",
        );
        const waits = await queued(t, bob, note);
        t.fits(
          await stream.next("claims", { id: note.id }),
          { claims: [{ id: held }], queue: [{ id: waits, position: 0 }] },
          "after a waiter joined",
        );
        await release(t, ann, held);
        t.fits(
          await stream.next("claims", { id: note.id, queue: exactly([]) }),
          { claims: [{ id: waits, fence: atLeast(1) }] },
          "after the hand-over",
        );
      },
    ),
    check("[A17] A new watch replaces the previous one of that model.", async (t) => {
      const [note, ann] = await scene(t, 1);
      const other = await t.note({ deckId: note.deckId });
      const stream = await t.connect();
      stream.send({ frame: "watch", model: NOTE, ids: [note.id] });
      await stream.next("claims", { id: note.id });
      stream.send({ frame: "watch", model: NOTE, ids: [other.id] });
      await stream.next("claims", { id: other.id });
      await granted(t, ann, note);
      await granted(t, ann, other);
      await stream.next("claims", { id: other.id, claims: listOf({ status: "active" }) });
      t.is(
        stream.frames.filter(({ frame, id }) => frame === "claims" && id === note.id).length,
        1,
        "frames of the record that is no longer watched",
      );
    }),
    check(
      "[A17] [A33] A participant gets a claim frame when one of its own claims is granted, renewed, moved in the queue or ended; other participants do not.",
      async (t) => {
        const [note, ann, bob, eve] = await scene(t, 3);
        const [own, others] = [await t.connect({ token: eve.token }), await t.connect({ token: ann.token })];
        const held = await granted(t, ann, note);
        const before = await queued(t, bob, note);
        const id = await queued(t, eve, note);
        await own.next("claim", { claim: { id, status: "queued", position: 1 } });
        await release(t, bob, before);
        await own.next("claim", { claim: { id, status: "queued", position: 0 } });
        await release(t, ann, held);
        t.fits(
          await own.next("claim", { claim: { id, status: "active" } }),
          { claim: { object: "claim", actor: eve.name, fence: atLeast(1), expiresAt: time } },
          "the grant",
        );
        await renew(t, eve, id, { ttl: "10m" });
        await own.next("claim", { claim: { id, status: "active", expiresInMs: atLeast(500_000) } });
        await release(t, eve, id);
        await own.next("claim", { claim: { id, status: "released" } });
        await others.next("claim", { claim: { id: held, status: "released" } });
        t.that(
          !others.frames.some(({ frame, claim }) => frame === "claim" && (claim as { id: unknown }).id === id),
          "no frame of another participant's claim",
        );
      },
    ),
    check(
      "[A17] A watch of a model outside the token's scope gets an error frame that names the missing capability, close 4403, and no claim.",
      async (t) => {
        const [note, ann] = await scene(t, 1);
        const stream = await t.connect({ token: ann.token });
        stream.send({ frame: "watch", model: WHOLE, ids: [t.id()] });
        t.fits(
          await stream.next("error"),
          { code: "capability_scope_denied", requiredCapability: { can: "read", model: WHOLE } },
          "the error frame",
        );
        t.is((await stream.closes()).code, 4403, "the close code");
        t.that(!stream.frames.some(({ frame }) => frame === "claims"), "no claims frame", note.id);
      },
    ),
    check("[A17] The server never sends the claims of a watched record outside the reader's groups.", async (t) => {
      const [note, ann] = await scene(t, 1);
      const stranger = await agent(t, t.deck().group);
      const stream = await t.connect({ token: stranger.token });
      stream.send({ frame: "watch", model: NOTE, ids: [note.id] });
      await granted(t, ann, note);
      // When another stream has got the frame, this one would have got it too.
      const observer = await t.connect();
      observer.send({ frame: "watch", model: NOTE, ids: [note.id] });
      await observer.next("claims", { id: note.id });
      stream.send({ frame: "ping", n: 1 });
      await stream.next("pong", { n: 1 });
      t.that(!stream.frames.some(({ frame }) => frame === "claims"), "no claims frame");
      t.that(stream.isOpen, "the socket to be open");
    }),
    check("[A17] A watch with more than 500 ids is a bad frame: close 4400.", async (t) => {
      const stream = await t.connect();
      stream.send({ frame: "watch", model: NOTE, ids: Array.from({ length: 501 }, (_, i) => `i${i}`) });
      await stream.next("error", { type: "validation_error" });
      t.is((await stream.closes()).code, 4400, "the close code");
    }),
  ],
};
