import { becomes, enter, isClosed, type Person, person, statesOf } from "../../kit/presence-kit.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";

const ofBytes = (bytes: number, character: string) => {
  const most = bytes - '{"text":""}'.length;
  const text = character.repeat(Math.floor(most / Buffer.byteLength(character)));
  return { text: text + "x".repeat(most - Buffer.byteLength(text)) };
};

export const section: SuiteSection = {
  title: "Presence limits",
  cases: [
    check("[P6] The server sends at most 50 sessions of a participant: those that sent a state last.", async (t) => {
      const { group: room } = t.deck();
      const bob = await enter(t, room, {});
      const participantId = t.id();
      const many: Person[] = [];
      for (let n = 0; n < 55; n++) many.push(await enter(t, room, { n }, { participantId }));
      const [first] = many as [Person];
      await becomes(t, () => statesOf(bob.stream, room, first)?.[0], { n: 54 }, "the session that spoke last");
      t.is(statesOf(bob.stream, room, first)?.length, 50, "the number of sessions");
      first.stream.send({ frame: "presence", room, state: { n: "first" } });
      await becomes(t, () => statesOf(bob.stream, room, first)?.[0], { n: "first" }, "the session that spoke last");
    }),
    ...checkEach(
      ["x", "é", "한", "🦊"],
      (character) =>
        `[P6] A state may have 4 KiB of JSON in UTF-8, here of ${character}; one byte more is an error and close 4400.`,
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
    check("[P6] A socket may be in 20 rooms; one more is an error and close 4400.", async (t) => {
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
  ],
};
