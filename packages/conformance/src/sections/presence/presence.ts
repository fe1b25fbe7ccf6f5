import { setTimeout as pause } from "node:timers/promises";
import { anObject, exactly, oneOf, orNull, type Pattern, someText } from "../../assertions/pattern.ts";
import { NOTE } from "../../environment/models.ts";
import type { Kit } from "../../kit/kit.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import type { Frame, Listener } from "../../transport/stream.ts";

const ENVELOPE = { frame: "error", type: someText, message: someText, code: someText };
const KIND = oneOf("user", "agent", "system");

interface Person {
  readonly participantId: string;
  readonly stream: Listener;
}

interface Entering {
  readonly participantId?: string;
  readonly clientId?: string;
  readonly rooms?: readonly string[];
}

/** A participant that may read in some rooms; it has not entered one yet. */
async function person(t: Kit, { participantId = t.id(), clientId, rooms = [] }: Entering): Promise<Person> {
  const { token } = await t.capability({ participantId, operations: [`${NOTE}.read`], syncGroups: rooms });
  return { participantId, stream: await t.hear({ token, ...(clientId !== undefined && { clientId }) }) };
}

async function enter(t: Kit, room: string, state: object, entering: Entering = {}): Promise<Person> {
  const someone = await person(t, { rooms: [room], ...entering });
  someone.stream.send({ frame: "presence", room, state });
  await someone.stream.next("presence", { room });
  return someone;
}

interface Told {
  readonly participant: string;
  readonly participantId: string;
  readonly sessions: readonly { readonly session: string; readonly clientId: string | null; readonly state: unknown }[];
}

const told = (frame: Frame, key: "joined" | "updated"): readonly Told[] => frame[key] as readonly Told[];
const about = ({ frames }: Listener, room: string) =>
  frames.filter(({ frame, room: of }) => frame === "presence" && of === room);

/** Who is there, as a client believes it that does as it is told. */
function peersIn(stream: Listener, room: string): ReadonlyMap<string, Told> {
  const peers = new Map<string, Told>();
  for (const frame of about(stream, room)) {
    for (const peer of [...told(frame, "joined"), ...told(frame, "updated")]) peers.set(peer.participantId, peer);
    for (const participant of frame.left as readonly string[]) peers.delete(participant.replace(/^[a-z]+:/, ""));
  }
  return peers;
}

const idsIn = (stream: Listener, room: string) => [...peersIn(stream, room).keys()].sort();
const statesOf = (stream: Listener, room: string, { participantId }: Person) =>
  peersIn(stream, room)
    .get(participantId)
    ?.sessions.map(({ state }) => state);

/** Waits until something is as expected, and says what it is when it never was. */
async function becomes(t: Kit, look: () => unknown, expected: unknown, what: string, withinMs = 8_000): Promise<void> {
  const wanted = JSON.stringify(expected);
  for (const end = performance.now() + withinMs; performance.now() < end && JSON.stringify(look()) !== wanted; )
    await pause(20);
  t.is(look(), expected, what);
}

async function isClosed(t: Kit, { stream }: Person, code: number, error: Pattern): Promise<void> {
  t.fits(await stream.next("error"), { ...ENVELOPE, ...(error as object) }, "the error frame");
  t.is((await stream.closes()).code, code, "the close code");
}

const ofBytes = (bytes: number, character: string) => {
  const most = bytes - '{"text":""}'.length;
  const text = character.repeat(Math.floor(most / Buffer.byteLength(character)));
  return { text: text + "x".repeat(most - Buffer.byteLength(text)) };
};

export const section: SuiteSection = {
  title: "Presence on the stream",
  cases: [
    check(
      "[P1] Who enters a room is told who is there, and who is there hears who joins, changes and leaves.",
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
        t.fits(await mentions(bob, ann, "joined"), anObject, "the first answer, which holds all");
        t.fits(await mentions(ann, bob, "joined"), anObject, "what the other hears");
        bob.stream.send({ frame: "presence", room, state: { cursor: 3 } });
        t.fits(await mentions(ann, bob, "updated"), anObject, "what the other hears of a change");
        bob.stream.send({ frame: "presence", room, state: null });
        t.fits(await mentions(ann, bob, "left"), anObject, "what the other hears of a leaving");
      },
    ),
    check(
      "[P1] A lone member learns it: the first answer holds only the member itself, with every documented field.",
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
        const [peer] = told(first, "joined");
        const { participantKind } = peer as unknown as { participantKind: string };
        t.is(peer?.participant, `${participantKind}:${ann.participantId}`, "participant");
      },
    ),
    check("[P1] Without a clientId in hello a session's clientId is null.", async (t) => {
      const { group: room } = t.deck();
      const ann = await enter(t, room, {});
      t.fits(peersIn(ann.stream, room).get(ann.participantId), { sessions: [{ clientId: orNull("") }] }, "the peer");
      t.is(peersIn(ann.stream, room).get(ann.participantId)?.sessions[0]?.clientId, null, "clientId");
    }),
    check(
      "[P2] A participant is there once: its second window is an update with both sessions, the one that spoke last first; it leaves with the last one.",
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
        const frames = about(bob.stream, room).slice(1);
        const joined = frames.flatMap((frame) => told(frame, "joined").map(({ participantId }) => participantId));
        t.is(joined, [participantId], "who joined");
        t.is(frames.flatMap(({ left }) => left as unknown[]).length, 1, "how often somebody left");
      },
    ),
    check("[P1] A state replaces the one before as a whole.", async (t) => {
      const { group: room } = t.deck();
      const [ann, bob] = [await enter(t, room, { cursor: 1, colour: "red" }), await enter(t, room, {})];
      ann.stream.send({ frame: "presence", room, state: { cursor: 2 } });
      await becomes(t, () => statesOf(bob.stream, room, ann), [{ cursor: 2 }], "the state");
    }),
    check("[P1] Who left hears nothing more of the room, and may enter it again.", async (t) => {
      const { group: room } = t.deck();
      const [ann, bob] = [await enter(t, room, {}), await enter(t, room, {})];
      ann.stream.send({ frame: "presence", room, state: null });
      await becomes(t, () => idsIn(bob.stream, room), [bob.participantId], "who is there", 2_000);
      const before = about(ann.stream, room).length;
      bob.stream.send({ frame: "presence", room, state: { n: 1 } });
      await becomes(t, () => statesOf(bob.stream, room, bob), [{ n: 1 }], "the state");
      await pause(200);
      t.is(about(ann.stream, room).length, before, "the frames that it heard");
      ann.stream.send({ frame: "presence", room, state: {} });
      await becomes(t, () => idsIn(bob.stream, room).length, 2, "how many are there");
    }),
    check(
      "[P3] A burst of updates closes no socket, arrives in fewer frames, and ends with the last one.",
      async (t) => {
        const { group: room } = t.deck();
        const [ann, bob] = [await enter(t, room, {}), await enter(t, room, {})];
        for (let n = 1; n <= 150; n++) {
          ann.stream.send({ frame: "presence", room, state: { n } });
          if (n % 15 === 0) await pause(30);
        }
        await becomes(t, () => statesOf(bob.stream, room, ann), [{ n: 150 }], "the last state");
        const before = about(bob.stream, room).length;
        t.that(before < 60, "far fewer frames than updates", before);
        const order = about(bob.stream, room)
          .flatMap((frame) => told(frame, "updated"))
          .map(({ sessions }) => Number((sessions[0]?.state as { n?: number } | undefined)?.n));
        t.is(
          order,
          [...order].sort((a, b) => a - b),
          "the order of the states",
        );
        // What does not change is not sent again.
        for (let n = 0; n < 20; n++) ann.stream.send({ frame: "presence", room, state: { n: 150 } });
        ann.stream.send({ frame: "ping", n: 1 });
        await ann.stream.next("pong", { n: 1 });
        await pause(150);
        t.is(about(bob.stream, room).length, before, "the frames after nothing changed");
        t.that(ann.stream.isOpen, "the quick socket to be open");
      },
    ),
    ...checkEach(
      ["", "confdeck", "confdeck:", "confdeck:a b", ":a", `confdeck:${"x".repeat(201)}`],
      (room) => `[P4] A room has to be a sync group: "${room.slice(0, 20)}" is invalid_sync_group and close 4400.`,
      async (t, room) => {
        const ann = await person(t, { rooms: [t.deck().group] });
        ann.stream.send({ frame: "presence", room, state: {} });
        await isClosed(t, ann, 4400, { code: "invalid_sync_group", param: "room" });
      },
    ),
    check(
      "[P4] A room outside the token's scope: an error with requiredCapability, close 4403, and nothing of the room.",
      async (t) => {
        const { group: room } = t.deck();
        const ann = await enter(t, room, {});
        for (const wanted of [room, `org:${await t.organization()}`]) {
          const bob = await person(t, { rooms: [t.deck().group] });
          bob.stream.send({ frame: "presence", room: wanted, state: {} });
          await isClosed(t, bob, 4403, {
            type: "permission_error",
            code: "capability_scope_denied",
            requiredCapability: { syncGroup: wanted },
          });
          t.is(about(bob.stream, wanted), [], "what it heard of the room");
        }
        ann.stream.send({ frame: "presence", room, state: { n: 1 } });
        await becomes(t, () => statesOf(ann.stream, room, ann), [{ n: 1 }], "the state");
        t.is(idsIn(ann.stream, room), [ann.participantId], "who is there");
      },
    ),
    check("[P4] A secret key enters every room, the whole organization's too.", async (t) => {
      for (const room of [t.deck().group, `org:${await t.organization()}`]) {
        const stream = await t.hear();
        stream.send({ frame: "presence", room, state: {} });
        const { length } = told(await stream.next("presence", { room }), "joined");
        t.that(length > 0, "itself to be there");
        stream.send({ frame: "presence", room, state: null });
      }
    }),
    check("[P4] A token of the organization's group enters its room, and every other.", async (t) => {
      const rooms = [`org:${await t.organization()}`, t.deck().group];
      for (const room of rooms) {
        const { participantId, stream } = await enter(t, room, {}, { rooms: rooms.slice(0, 1) });
        t.that(idsIn(stream, room).includes(participantId), `it to be in ${room}`, idsIn(stream, room));
      }
    }),
    check("[P4] A socket that says hello as another participant has left, and may enter as that one.", async (t) => {
      const { group: room } = t.deck();
      const [bob, ann] = [await enter(t, room, {}), await enter(t, room, {})];
      await becomes(t, () => idsIn(bob.stream, room).length, 2, "how many are there");
      const participantId = t.id();
      const { token } = await t.capability({ participantId, operations: [`${NOTE}.read`], syncGroups: [room] });
      ann.stream.send({ frame: "hello", token });
      await becomes(t, () => idsIn(bob.stream, room), [bob.participantId], "who is there", 4_000);
      ann.stream.send({ frame: "presence", room, state: {} });
      await becomes(t, () => idsIn(bob.stream, room), [bob.participantId, participantId].sort(), "who is there");
    }),
    check("[P5] A resync takes no member out of a room; a token that is revoked meanwhile does.", async (t) => {
      const { group: room } = t.deck();
      const bob = await enter(t, room, {});
      const participantId = t.id();
      const { id, token } = await t.capability({ participantId, operations: [`${NOTE}.read`], syncGroups: [room] });
      const stream = await t.hear({ token });
      const ann = { participantId, stream };
      stream.send({ frame: "presence", room, state: {} });
      await becomes(t, () => idsIn(bob.stream, room).length, 2, "how many are there");
      stream.send({ frame: "hello", token, since: 2 ** 52 });
      await stream.next("resync");
      stream.send({ frame: "presence", room, state: { still: "here" } });
      await becomes(t, () => statesOf(bob.stream, room, ann), [{ still: "here" }], "its state");
      bob.stream.send({ frame: "presence", room, state: { n: 1 } });
      await becomes(t, () => statesOf(stream, room, bob), [{ n: 1 }], "what it hears");
      t.answered(await t.remove(`/v1/capabilities/${id}`), 200);
      t.is((await stream.closes()).code, 4401, "the close code");
      await becomes(t, () => idsIn(bob.stream, room), [bob.participantId], "who is there", 10_000);
    }),
    check("[P6] Of a participant with more than 50 sessions those that spoke last are told.", async (t) => {
      const { group: room } = t.deck();
      const bob = await enter(t, room, {});
      const participantId = t.id();
      const many: Person[] = [];
      for (let n = 0; n < 55; n++) many.push(await enter(t, room, { n }, { participantId }));
      const [first] = many as [Person];
      await becomes(t, () => statesOf(bob.stream, room, first)?.[0], { n: 54 }, "the session that spoke last");
      t.is(statesOf(bob.stream, room, first)?.length, 50, "how many sessions are told");
      first.stream.send({ frame: "presence", room, state: { n: "first" } });
      await becomes(t, () => statesOf(bob.stream, room, first)?.[0], { n: "first" }, "the session that spoke last");
    }),
    check("[P1] A room of the other environment, or of another organization, is another room.", async (t) => {
      const { group: room } = t.deck();
      const ann = await enter(t, room, {});
      for (const token of [t.otherKey(), (await t.freshTenant(false)).key]) {
        const other = await t.hear({ token });
        other.send({ frame: "presence", room, state: {} });
        t.is(told(await other.next("presence", { room }), "joined").length, 1, "how many are there");
      }
      await pause(300);
      t.is(idsIn(ann.stream, room), [ann.participantId], "who is here");
    }),
    check("[P4] auth with a narrower scope leaves the rooms outside it at once, and keeps the others.", async (t) => {
      const [kept, lost] = [t.deck().group, t.deck().group];
      const [bob, carl] = [await enter(t, kept, {}), await enter(t, lost, {})];
      const ann = await enter(t, kept, {}, { rooms: [kept, lost] });
      ann.stream.send({ frame: "presence", room: lost, state: {} });
      await becomes(t, () => idsIn(carl.stream, lost).length, 2, "how many are in the room");
      const { participantId } = ann;
      const { token } = await t.capability({ participantId, operations: [`${NOTE}.read`], syncGroups: [kept] });
      ann.stream.send({ frame: "auth", token });
      await becomes(t, () => idsIn(carl.stream, lost), [carl.participantId], "who is in the room outside", 3_000);
      carl.stream.send({ frame: "presence", room: lost, state: { secret: lost } });
      bob.stream.send({ frame: "presence", room: kept, state: { n: 1 } });
      await becomes(t, () => statesOf(ann.stream, kept, bob), [{ n: 1 }], "what is heard of the room within");
      t.that(idsIn(bob.stream, kept).includes(participantId), "it to be in the room within");
      t.that(!JSON.stringify(ann.stream.frames).includes("secret"), "nothing of the room outside to be heard");
      ann.stream.send({ frame: "presence", room: lost, state: null });
      ann.stream.send({ frame: "presence", room: lost, state: {} });
      await isClosed(t, ann, 4403, { code: "capability_scope_denied", param: "room" });
    }),
    ...checkEach(
      ["x", "é", "한", "🦊"],
      (character) =>
        `[P6] A state has up to 4 KiB of UTF-8 as JSON, here of ${character}; one byte more is an error and close 4400.`,
      async (t, character) => {
        const { group: room } = t.deck();
        const [ann, bob] = [await enter(t, room, ofBytes(4_096, character)), await enter(t, room, {})];
        await becomes(t, () => statesOf(bob.stream, room, ann), [ofBytes(4_096, character)], "the state");
        ann.stream.send({ frame: "presence", room, state: ofBytes(4_097, character) });
        await isClosed(t, ann, 4400, { type: "validation_error", param: "state" });
      },
    ),
    ...checkEach(
      [[], "here", 1, true, undefined] as readonly unknown[],
      (state) => `[P6] A state is an object or null: ${JSON.stringify(state) ?? "nothing"} is an error and close 4400.`,
      async (t, state) => {
        const { group: room } = t.deck();
        const ann = await person(t, { rooms: [room] });
        ann.stream.send({ frame: "presence", room, state });
        await isClosed(t, ann, 4400, { type: "validation_error" });
      },
    ),
    check("[P6] A socket is in up to 20 rooms; one more is an error and close 4400.", async (t) => {
      const rooms = Array.from({ length: 21 }, () => t.deck().group);
      const ann = await person(t, { rooms });
      for (const room of rooms.slice(0, 20)) ann.stream.send({ frame: "presence", room, state: {} });
      for (const room of rooms.slice(0, 20)) await ann.stream.next("presence", { room });
      ann.stream.send({ frame: "presence", room: rooms[0], state: null });
      ann.stream.send({ frame: "presence", room: rooms[20], state: {} });
      await ann.stream.next("presence", { room: String(rooms[20]) });
      ann.stream.send({ frame: "presence", room: rooms[0], state: {} });
      await isClosed(t, ann, 4400, { type: "validation_error", param: "room" });
    }),
    check(
      "[P5] A socket that breaks is shown for about 5 s more; if its device comes back before that, no member hears that it left or joined.",
      async (t) => {
        const { group: room } = t.deck();
        const bob = await enter(t, room, {});
        const [back, gone] = [
          await enter(t, room, { n: 0 }, { clientId: "conf_back" }),
          await enter(t, room, {}, { clientId: "conf_gone" }),
        ];
        await becomes(t, () => idsIn(bob.stream, room).length, 3, "how many are there");
        const before = about(bob.stream, room).length;
        const begun = performance.now();
        for (const { stream } of [back, gone]) stream.end();
        await pause(1_000);
        const { participantId } = back;
        await enter(t, room, { n: 1 }, { participantId, clientId: "conf_back" });
        await becomes(t, () => statesOf(bob.stream, room, back), [{ n: 1 }], "the one session of who came back");
        await becomes(
          t,
          () => idsIn(bob.stream, room),
          [bob.participantId, participantId].sort(),
          "who is there in the end",
          10_000,
        );
        const took = performance.now() - begun;
        t.that(took > 3_500 && took < 9_000, "a leaving after about 5 s", Math.round(took));
        await pause(1_500);
        const frames = about(bob.stream, room).slice(before);
        t.is(
          frames.flatMap((frame) => told(frame, "joined")),
          [],
          "who joined",
        );
        t.that(
          frames.every(({ left }) => !JSON.stringify(left).includes(participantId)),
          "nobody to be told that who came back had left",
        );
      },
    ),
    check("[P10] What is said of presence is never in the log.", async (t) => {
      const { group: room } = t.deck();
      const before = await t.head();
      const stream = await t.hear();
      stream.send({ frame: "presence", room, state: { secret: room } });
      await stream.next("presence", { room });
      const page = await t.get(`/v1/log?after=${before}&group=${room}`);
      t.answered(page, 200, { data: exactly([]) });
    }),
  ],
};
