import { NOTE } from "../../environment/models.ts";
import { becomes, enter, idsIn, isClosed, peersOf, person, presenceFrames, statesOf } from "../../kit/presence-kit.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";

export const section: SuiteSection = {
  title: "Presence and scopes",
  cases: [
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
      "[P4] A client that enters a room outside the token's scope gets an error with requiredCapability, close 4403, and nothing of the room.",
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
          t.is(presenceFrames(bob.stream, wanted), [], "its frames of the room");
        }
        ann.stream.send({ frame: "presence", room, state: { n: 1 } });
        await becomes(t, () => statesOf(ann.stream, room, ann), [{ n: 1 }], "the state");
        t.is(idsIn(ann.stream, room), [ann.participantId], "who is there");
      },
    ),
    check("[P4] A secret key can enter every room, including the organization's.", async (t) => {
      for (const room of [t.deck().group, `org:${await t.organization()}`]) {
        const stream = await t.connect();
        stream.send({ frame: "presence", room, state: {} });
        const { length } = peersOf(await stream.next("presence", { room }), "joined");
        t.that(length > 0, "itself to be there");
        stream.send({ frame: "presence", room, state: null });
      }
    }),
    check("[P4] A token with the organization's group can enter its room and every other.", async (t) => {
      const rooms = [`org:${await t.organization()}`, t.deck().group];
      for (const room of rooms) {
        const { participantId, stream } = await enter(t, room, {}, { rooms: rooms.slice(0, 1) });
        t.that(idsIn(stream, room).includes(participantId), `it to be in ${room}`, idsIn(stream, room));
      }
    }),
    check(
      "[P4] [P11] After auth with a narrower scope, the socket leaves the rooms outside it at once and stays in the others.",
      async (t) => {
        const [kept, lost] = [t.deck().group, t.deck().group];
        const [bob, carl] = [await enter(t, kept, {}), await enter(t, lost, {})];
        const ann = await enter(t, kept, {}, { rooms: [kept, lost] });
        ann.stream.send({ frame: "presence", room: lost, state: {} });
        await becomes(t, () => idsIn(carl.stream, lost).length, 2, "how many are in the room");
        const { participantId } = ann;
        const { token } = await t.capability({ participantId, operations: [`${NOTE}.read`], syncGroups: [kept] });
        ann.stream.send({ frame: "auth", token });
        await becomes(t, () => idsIn(carl.stream, lost), [carl.participantId], "who is in the room outside the scope");
        carl.stream.send({ frame: "presence", room: lost, state: { secret: lost } });
        bob.stream.send({ frame: "presence", room: kept, state: { n: 1 } });
        await becomes(t, () => statesOf(ann.stream, kept, bob), [{ n: 1 }], "the state in the room inside the scope");
        t.that(idsIn(bob.stream, kept).includes(participantId), "it to be in the room inside the scope");
        t.that(!JSON.stringify(ann.stream.frames).includes("secret"), "no frame of the room outside the scope");
        ann.stream.send({ frame: "presence", room: lost, state: null });
        ann.stream.send({ frame: "presence", room: lost, state: {} });
        await isClosed(t, ann, 4403, { code: "capability_scope_denied", param: "room" });
      },
    ),
  ],
};
