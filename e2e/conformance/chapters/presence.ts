import { type Chapter, check } from "../chapter.ts";
import { NOTE } from "../models.ts";
import { anObject, exactly } from "../pattern.ts";

export const chapter: Chapter = {
  title: "Presence on the stream",
  cases: [
    check(
      "Who enters a room is told who is there, and who is there hears who joins, changes and leaves.",
      async (t) => {
        const { group: room } = t.deck();
        const enter = async () => {
          const participantId = t.id();
          const { token } = await t.capability({ participantId, operations: [`${NOTE}.read`], syncGroups: [room] });
          return { participantId, stream: await t.hear({ token }) };
        };
        const [ann, bob] = [await enter(), await enter()];
        const mentions = async (who: typeof ann, about: typeof ann, key: string) => {
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
    check("What is said of presence is never in the log.", async (t) => {
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
