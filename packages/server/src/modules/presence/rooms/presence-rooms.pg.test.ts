import { expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../../../testing/database.ts";
import { becomes } from "../../../testing/waiting/people.ts";
import { openPresenceChannel } from "../db/presence-channel.ts";
import { openPresenceRooms } from "./presence-rooms.ts";

const { url } = await freshDatabase();

/** The rooms of a process on a real channel, and what its first member sees: participant → state. */
function openProcess(failures: unknown[]) {
  const rooms = openPresenceRooms({
    times: { graceMs: 600_000, beatMs: 300, silentMs: 600_000, settleMs: 150 },
    openChannel: (on) => openPresenceChannel(url, on),
    now: () => Math.floor(performance.timeOrigin + performance.now()),
    failed: (error) => failures.push(error),
  });
  onTestFinished(rooms.close);
  const seen = new Map<string, unknown>();
  const look = (frame: Buffer) => {
    const { joined, updated, left } = JSON.parse(frame.toString());
    for (const { participantId, sessions } of [...joined, ...updated]) seen.set(participantId, sessions[0].state);
    for (const participant of left) seen.delete(participant.slice("user:".length));
  };
  let members = 0;
  const enter = (participantId: string, state: object) =>
    rooms.update(
      1,
      "deck:big",
      // A list of these is hundreds of notifications long.
      {
        session: participantId,
        clientId: "한".repeat(64),
        participantKind: "user",
        participantId,
        state: JSON.stringify(state),
      },
      members++ === 0 ? look : () => {},
    );
  return { rooms, seen, enter };
}

test("[P7] a thousand people with long names and states, in one room over two processes, see each other", async () => {
  const failures: unknown[] = [];
  const [near, far] = [openProcess(failures), openProcess(failures)];
  const names = Array.from({ length: 1_000 }, (_, n) => `${n}-${"🦊".repeat(190)}`);
  const state = { text: "é".repeat(500) };
  for (const name of names.slice(0, 500)) near.enter(name, state);
  await becomes(() => near.seen.size, 500);
  // They come one after the other, while the whole lists are on their way.
  for (const name of names.slice(500)) {
    far.enter(name, state);
    await new Promise(setImmediate);
  }
  for (const { seen } of [near, far]) await becomes(() => [...seen.keys()].sort(), [...names].sort());
  near.enter(String(names[0]), { n: 1 });
  far.rooms.leave(1, "deck:big", String(names[999]));
  for (const { seen } of [near, far]) {
    await becomes(() => seen.get(String(names[0])), { n: 1 });
    await becomes(() => seen.size, 999);
  }
  expect(failures).toEqual([]);
});
