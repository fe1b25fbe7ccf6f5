import { setTimeout as pause } from "node:timers/promises";
import { NOTE } from "../../environment/models.ts";
import { becomes, enter, idsIn, peersOf, presenceFrames, statesOf } from "../../kit/presence-kit.ts";
import { check, type SuiteSection } from "../../kit/section.ts";

export const section: SuiteSection = {
  title: "Presence and connections",
  cases: [
    check(
      "[P4] [P11] A socket that sends hello as another participant leaves its rooms, and can enter them as the new participant.",
      async (t) => {
        const { group: room } = t.deck();
        const [bob, ann] = [await enter(t, room, {}), await enter(t, room, {})];
        await becomes(t, () => idsIn(bob.stream, room).length, 2, "how many are there");
        const participantId = t.id();
        const { token } = await t.capability({ participantId, operations: [`${NOTE}.read`], syncGroups: [room] });
        ann.stream.send({ frame: "hello", token });
        await becomes(t, () => idsIn(bob.stream, room), [bob.participantId], "who is there");
        ann.stream.send({ frame: "presence", room, state: {} });
        await becomes(t, () => idsIn(bob.stream, room), [bob.participantId, participantId].sort(), "who is there");
      },
    ),
    check("[P5] A member stays in its room during a resync; revoking its token removes it.", async (t) => {
      const { group: room } = t.deck();
      const bob = await enter(t, room, {});
      const participantId = t.id();
      const { id, token } = await t.capability({ participantId, operations: [`${NOTE}.read`], syncGroups: [room] });
      const stream = await t.connect({ token });
      const ann = { participantId, stream };
      stream.send({ frame: "presence", room, state: {} });
      await becomes(t, () => idsIn(bob.stream, room).length, 2, "how many are there");
      stream.send({ frame: "hello", token, since: 2 ** 52 });
      await stream.next("resync");
      stream.send({ frame: "presence", room, state: { still: "here" } });
      await becomes(t, () => statesOf(bob.stream, room, ann), [{ still: "here" }], "its state");
      bob.stream.send({ frame: "presence", room, state: { n: 1 } });
      await becomes(t, () => statesOf(stream, room, bob), [{ n: 1 }], "the state that it gets");
      t.answered(await t.remove(`/v1/capabilities/${id}`), 200);
      t.is((await stream.closes()).code, 4401, "the close code");
      await becomes(t, () => idsIn(bob.stream, room), [bob.participantId], "who is there");
    }),
    check(
      "[P5] The server shows a broken socket for about 5 s more; if its device reconnects in that time, other members see no leave and no join.",
      async (t) => {
        const { group: room } = t.deck();
        const bob = await enter(t, room, {});
        const [back, gone] = [
          await enter(t, room, { n: 0 }, { clientId: "conf_back" }),
          await enter(t, room, {}, { clientId: "conf_gone" }),
        ];
        await becomes(t, () => idsIn(bob.stream, room).length, 3, "how many are there");
        const before = presenceFrames(bob.stream, room).length;
        const begun = performance.now();
        for (const { stream } of [back, gone]) stream.end();
        await pause(1_000);
        const { participantId } = back;
        await enter(t, room, { n: 1 }, { participantId, clientId: "conf_back" });
        await becomes(
          t,
          () => statesOf(bob.stream, room, back),
          [{ n: 1 }],
          "the one session of the device that reconnected",
        );
        await becomes(
          t,
          () => idsIn(bob.stream, room),
          [bob.participantId, participantId].sort(),
          "who is there in the end",
        );
        const took = performance.now() - begun;
        t.that(took > 3_500 && took < 25_000, "a leave after about 5 s", Math.round(took));
        await pause(1_500);
        const frames = presenceFrames(bob.stream, room).slice(before);
        t.is(
          frames.flatMap((frame) => peersOf(frame, "joined")),
          [],
          "who joined",
        );
        t.is(
          frames.flatMap(({ left }) => left as unknown[]),
          [`agent:${gone.participantId}`],
          "who left",
        );
      },
    ),
  ],
};
