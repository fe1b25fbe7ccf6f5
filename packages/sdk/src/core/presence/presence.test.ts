import { expect, test } from "vitest";
import type { Peer } from "../../protocol/presence/presence.ts";
import {
  noPresence,
  onConnected,
  onDisconnected,
  onEntered,
  onLeftRoom,
  onPresenceFrame,
  presenceDue,
} from "./presence.ts";

const peer = (id: string): Peer => ({
  participant: `user:${id}`,
  participantKind: "user",
  participantId: id,
  sessions: [{ session: `ses_${id}`, clientId: null, state: {} }],
});
const frame = (joined: string[], updated: string[] = [], left: string[] = []) => ({
  frame: "presence" as const,
  room: "deck:d1",
  joined: joined.map(peer),
  updated: updated.map(peer),
  left: left.map((id) => `user:${id}`),
});
const inside = () => presenceDue(onEntered(noPresence, "deck:d1", 0), true, 0).presence;
const receive = (presence: ReturnType<typeof inside>, next: ReturnType<typeof frame>) =>
  onPresenceFrame(presence, next, "user:ann");
const room = (presence: ReturnType<typeof inside>) => presence.rooms.get("deck:d1");
const members = (presence: ReturnType<typeof inside>) => [...(room(presence)?.peers.keys() ?? [])];

test("[U13] the first frame has all members, later ones the changes", () => {
  const first = receive(inside(), frame(["ben", "ann"]));
  expect(room(first)?.phase).toBe("inside");
  expect(members(first)).toEqual(["user:ben", "user:ann"]);
  expect(members(receive(first, frame(["cem"], [], ["ben"])))).toEqual(["user:ann", "user:cem"]);
});

test("[U13] an old frame that arrives after the room was entered again is not taken for the member list", () => {
  const late = receive(inside(), frame([], ["ben"], ["cem"]));
  expect(room(late)?.phase).toBe("entering");
  expect(members(late)).toEqual([]);
});

test("[U13] members that left during a disconnection are gone after the reconnect", () => {
  const cut = onDisconnected(receive(inside(), frame(["ben", "ann"])), 100);
  expect(members(cut)).toEqual(["user:ben", "user:ann"]);
  const back = presenceDue(onConnected(cut, 200), true, 200).presence;
  expect(members(back)).toEqual(["user:ben", "user:ann"]);
  expect(members(receive(back, frame(["ann"])))).toEqual(["user:ann"]);
});

test("[U12] a room is left once, a moment after its last use ended", () => {
  const two = onEntered(inside(), "deck:d1", 0);
  const one = presenceDue(onLeftRoom(two, "deck:d1", 0), true, 1_000);
  expect(one.frames).toEqual([]);
  expect(one.presence.rooms.size).toBe(1);
  const none = presenceDue(onLeftRoom(one.presence, "deck:d1", 1_000), true, 1_250);
  expect(none.frames).toEqual([{ frame: "presence", room: "deck:d1", state: null }]);
  expect(none.presence.rooms.size).toBe(0);
});
