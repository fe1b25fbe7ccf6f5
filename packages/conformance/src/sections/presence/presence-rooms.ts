import { setTimeout as pause } from "node:timers/promises";
import { anObject, exactly, oneOf, orNull, someText } from "../../assertions/pattern.ts";
import {
  becomes,
  enter,
  idsIn,
  type Person,
  peersIn,
  peersOf,
  person,
  presenceFrames,
  statesOf,
} from "../../kit/presence-kit.ts";
import { check, type SuiteSection } from "../../kit/section.ts";

const KIND = oneOf("user", "agent", "system");

export const section: SuiteSection = {
  title: "Presence in rooms",
  cases: [
    check(
      "[P1] A client that enters a room gets its members, and each member sees who joins, changes and leaves.",
      async (t) => {
        const { group: room } = t.deck();
        const [ann, bob] = [await person(t, { rooms: [room] }), await person(t, { rooms: [room] })];
        const mentions = async (who: Person, about: Person, key: string) => {
          for (let n = 0; n < 10; n++) {
            const frame = await who.stream.next("presence", { room });
            if (JSON.stringify(frame[key] ?? null).includes(about.participantId)) return frame;
          }
          return t.that(false, `a presence frame whose ${key} names ${about.participantId}`);
        };
        ann.stream.send({ frame: "presence", room, state: { cursor: 1 } });
        await ann.stream.next("presence", { room });
        bob.stream.send({ frame: "presence", room, state: { cursor: 2 } });
        t.fits(await mentions(bob, ann, "joined"), anObject, "the first answer, which has all members");
        t.fits(await mentions(ann, bob, "joined"), anObject, "what the other member gets");
        bob.stream.send({ frame: "presence", room, state: { cursor: 3 } });
        t.fits(await mentions(ann, bob, "updated"), anObject, "what the other member gets on a change");
        bob.stream.send({ frame: "presence", room, state: null });
        t.fits(await mentions(ann, bob, "left"), anObject, "what the other member gets on a leave");
      },
    ),
    check(
      "[P1] The first member of a room gets an answer with only itself, with every documented field.",
      async (t) => {
        const { group: room } = t.deck();
        const ann = await person(t, { rooms: [room], clientId: "conf_tab" });
        ann.stream.send({ frame: "presence", room, state: { cursor: { x: 1, y: [2, null] } } });
        const session = ann.stream.frames.find(({ frame }) => frame === "welcome")?.session;
        const first = await ann.stream.next("presence", { room });
        t.fits(
          first,
          {
            joined: [
              {
                participant: someText,
                participantKind: KIND,
                participantId: ann.participantId,
                sessions: [
                  {
                    session: String(session),
                    clientId: "conf_tab",
                    state: exactly({ cursor: { x: 1, y: [2, null] } }),
                  },
                ],
              },
            ],
            updated: exactly([]),
            left: exactly([]),
          },
          "the first answer",
        );
        const [peer] = peersOf(first, "joined");
        const { participantKind } = peer as unknown as { participantKind: string };
        t.is(peer?.participant, `${participantKind}:${ann.participantId}`, "participant");
      },
    ),
    check("[P1] Without a clientId in hello, a session's clientId is null.", async (t) => {
      const { group: room } = t.deck();
      const ann = await enter(t, room, {});
      t.fits(peersIn(ann.stream, room).get(ann.participantId), { sessions: [{ clientId: orNull("") }] }, "the peer");
      t.is(peersIn(ann.stream, room).get(ann.participantId)?.sessions[0]?.clientId, null, "clientId");
    }),
    check(
      "[P2] A room lists a participant once: its second window is an update with both sessions, the one that sent last first; the participant leaves with its last window.",
      async (t) => {
        const { group: room } = t.deck();
        const bob = await enter(t, room, {});
        const one = await enter(t, room, { window: 1 });
        const { participantId } = one;
        const two = await enter(t, room, { window: 2 }, { participantId });
        await becomes(t, () => statesOf(bob.stream, room, one), [{ window: 2 }, { window: 1 }], "the sessions");
        one.stream.send({ frame: "presence", room, state: { window: "one" } });
        await becomes(t, () => statesOf(bob.stream, room, one), [{ window: "one" }, { window: 2 }], "the sessions");
        one.stream.send({ frame: "presence", room, state: null });
        await becomes(t, () => statesOf(bob.stream, room, one), [{ window: 2 }], "the session that is left");
        two.stream.send({ frame: "presence", room, state: null });
        await becomes(t, () => idsIn(bob.stream, room), [bob.participantId], "who is there");
        const frames = presenceFrames(bob.stream, room).slice(1);
        const joined = frames.flatMap((frame) => peersOf(frame, "joined").map(({ participantId }) => participantId));
        t.is(joined, [participantId], "who joined");
        t.is(frames.flatMap(({ left }) => left as unknown[]).length, 1, "the number of leaves");
      },
    ),
    check("[P1] A new state replaces the whole previous one.", async (t) => {
      const { group: room } = t.deck();
      const [ann, bob] = [await enter(t, room, { cursor: 1, colour: "red" }), await enter(t, room, {})];
      ann.stream.send({ frame: "presence", room, state: { cursor: 2 } });
      await becomes(t, () => statesOf(bob.stream, room, ann), [{ cursor: 2 }], "the state");
    }),
    check("[P1] A client that left a room gets no more frames of it, and can enter it again.", async (t) => {
      const { group: room } = t.deck();
      const [ann, bob] = [await enter(t, room, {}), await enter(t, room, {})];
      ann.stream.send({ frame: "presence", room, state: null });
      await becomes(t, () => idsIn(bob.stream, room), [bob.participantId], "who is there");
      const before = presenceFrames(ann.stream, room).length;
      bob.stream.send({ frame: "presence", room, state: { n: 1 } });
      await becomes(t, () => statesOf(bob.stream, room, bob), [{ n: 1 }], "the state");
      await pause(200);
      t.is(presenceFrames(ann.stream, room).length, before, "the number of frames that it got");
      ann.stream.send({ frame: "presence", room, state: {} });
      await becomes(t, () => idsIn(bob.stream, room).length, 2, "how many are there");
    }),
    check(
      "[P3] A burst of updates closes no socket, arrives in fewer frames, and ends with the last state.",
      async (t) => {
        const { group: room } = t.deck();
        const [ann, bob] = [await enter(t, room, {}), await enter(t, room, {})];
        for (let n = 1; n <= 150; n++) {
          ann.stream.send({ frame: "presence", room, state: { n } });
          if (n % 15 === 0) await pause(30);
        }
        await becomes(t, () => statesOf(bob.stream, room, ann), [{ n: 150 }], "the last state");
        const before = presenceFrames(bob.stream, room).length;
        t.that(before < 60, "far fewer frames than updates", before);
        const order = presenceFrames(bob.stream, room)
          .flatMap((frame) => peersOf(frame, "updated"))
          .map(({ sessions }) => Number((sessions[0]?.state as { n?: number } | undefined)?.n));
        t.is(
          order,
          [...order].sort((a, b) => a - b),
          "the order of the states",
        );
        // The server does not send an unchanged state again.
        for (let n = 0; n < 20; n++) ann.stream.send({ frame: "presence", room, state: { n: 150 } });
        ann.stream.send({ frame: "ping", n: 1 });
        await ann.stream.next("pong", { n: 1 });
        await pause(150);
        t.is(presenceFrames(bob.stream, room).length, before, "the number of frames without a change");
        t.that(ann.stream.isOpen, "the socket of the sender to be open");
      },
    ),
    check("[P1] The same room name in another environment or organization is another room.", async (t) => {
      const { group: room } = t.deck();
      const ann = await enter(t, room, {});
      for (const token of [t.otherKey(), (await t.freshTenant(false)).key]) {
        const other = await t.connect({ token });
        other.send({ frame: "presence", room, state: {} });
        t.is(peersOf(await other.next("presence", { room }), "joined").length, 1, "how many are there");
      }
      await pause(300);
      t.is(idsIn(ann.stream, room), [ann.participantId], "who is here");
    }),
    check("[P10] Presence writes nothing to the log.", async (t) => {
      const { group: room } = t.deck();
      const before = await t.head();
      const stream = await t.connect();
      stream.send({ frame: "presence", room, state: { secret: room } });
      await stream.next("presence", { room });
      const page = await t.get(`/v1/log?after=${before}&group=${room}`);
      t.answered(page, 200, { data: exactly([]) });
    }),
  ],
};
