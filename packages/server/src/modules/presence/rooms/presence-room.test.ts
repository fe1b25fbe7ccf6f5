import fc from "fast-check";
import { expect, test } from "vitest";
import { type Attendee, createPresenceRoom, type PresenceRoom, type RoomNews } from "./presence-room.ts";

let clock = 0;
const ann = (session: string, state = "{}", clientId: string | null = null): Attendee => ({
  session,
  clientId,
  participantKind: "user",
  participantId: "ann",
  state,
  spokeAt: ++clock,
});
const bob = (...given: Parameters<typeof ann>): Attendee => ({ ...ann(...given), participantId: "bob" });
const shown = (news: RoomNews | undefined) =>
  news && {
    joined: news.joined.map((sessions) => sessions.map(({ session }) => session)),
    updated: news.updated.map((sessions) => sessions.map(({ session }) => session)),
    left: news.left,
  };
const has = (room: PresenceRoom, session: string) => room.attendee(session) !== undefined;
const changes = { joined: [], updated: [], left: [] };

test("[P2] a participant joins once, with its sessions inside, the one that spoke last first", () => {
  const room = createPresenceRoom();
  room.update(ann("a1"));
  expect(shown(room.news())).toEqual({ ...changes, joined: [["a1"]] });
  room.update(ann("a2"));
  expect(shown(room.news())).toEqual({ ...changes, updated: [["a2", "a1"]] });
  room.update(ann("a1"));
  expect(shown(room.news())).toEqual({ ...changes, updated: [["a1", "a2"]] });
  room.leave("a1");
  expect(shown(room.news())).toEqual({ ...changes, updated: [["a2"]] });
  room.leave("a2");
  expect(shown(room.news())).toEqual({ ...changes, left: ["user:ann"] });
  expect(room.participants()).toEqual([]);
  room.update(ann("a2"));
  expect(shown(room.news())).toEqual({ ...changes, joined: [["a2"]] });
});

test("[P2] a state that was set and taken back between two flushes is not sent", () => {
  const room = createPresenceRoom();
  room.update(ann("a1"));
  room.leave("a1");
  expect(room.news()).toBeUndefined();
  room.update(ann("a1"));
  room.news();
  room.leave("a1");
  room.update(ann("a1"));
  expect(shown(room.news())).toEqual({ ...changes, updated: [["a1"]] });
  expect(room.news()).toBeUndefined();
});

test("[P3] of many states the last one is sent", () => {
  const room = createPresenceRoom();
  for (let n = 0; n < 30; n++) room.update(ann("a1", `{"n":${n}}`));
  expect(room.news()?.joined[0]?.map(({ state }) => state)).toEqual(['{"n":29}']);
});

test("[P3] the very same said again is no news, unless another session spoke meanwhile", () => {
  const room = createPresenceRoom();
  const first = ann("a1", '{"x":1}');
  expect(room.isUnchanged(first)).toBe(false);
  room.update(first);
  expect(room.isUnchanged(first)).toBe(true);
  expect(room.isUnchanged({ ...first, state: "{}" })).toBe(false);
  expect(room.isUnchanged({ ...first, participantId: "bob" })).toBe(false);
  room.update(ann("a2"));
  expect(room.isUnchanged(first)).toBe(false);
  room.breakOff("a2", 9);
  expect(room.isUnchanged({ ...first, session: "a2" })).toBe(false);
});

test("[P5] a broken session is shown; its device's next session takes its place, without leaving", () => {
  const room = createPresenceRoom();
  room.update(ann("a1", "{}", "tab"));
  room.news();
  expect(room.breakOff("a1", 9)).toBe(true);
  expect(room.news()).toBeUndefined();
  expect(shown({ ...changes, joined: room.participants() })?.joined).toEqual([["a1"]]);
  expect(room.update(ann("a2", "{}", "tab"))).toEqual(["a1"]);
  expect(shown(room.news())).toEqual({ ...changes, updated: [["a2"]] });
});

test("[P5] another device, another participant, and a session without a clientId take no existing session's place", () => {
  const room = createPresenceRoom();
  room.update(ann("a1", "{}", "tab"));
  room.update(ann("a0"));
  room.breakOff("a1", 9);
  room.breakOff("a0", 9);
  for (const other of [ann("a2", "{}", "other"), ann("a3"), bob("b1", "{}", "tab")])
    expect(room.update(other)).toEqual([]);
  expect(has(room, "a1") && has(room, "a0")).toBe(true);
});

test("[P5] a session that breaks when its device is back already is gone; one that was there before is not its return", () => {
  const room = createPresenceRoom();
  room.update(ann("a1", "{}", "tab"));
  room.update(ann("a2", "{}", "tab"));
  expect(room.breakOff("a1", 9)).toBe(false);
  expect(has(room, "a1")).toBe(false);
  room.update(ann("a3", "{}", "tab"));
  expect(room.breakOff("a3", 9)).toBe(true);
  expect(has(room, "a3")).toBe(true);
});

test("[P5] a broken session is overdue when its time is over, unless it has left", () => {
  const room = createPresenceRoom();
  for (const session of ["a1", "a2", "a3"]) room.update(ann(session));
  room.breakOff("a1", 8);
  room.breakOff("a2", 9);
  room.breakOff("a1", 10);
  expect(room.overdue(8)).toEqual([]);
  expect(room.overdue(10)).toEqual(["a1", "a2"]);
  room.leave("a2");
  expect(room.overdue(10)).toEqual(["a1"]);
});

test("[P5] a broken session that speaks again lives", () => {
  const room = createPresenceRoom();
  const first = ann("a1", "{}", "tab");
  room.update(first);
  room.breakOff("a1", 9);
  room.update(first);
  expect(room.overdue(9)).toEqual([]);
  expect(room.update(ann("a2", "{}", "tab"))).toEqual([]);
  expect(has(room, "a1")).toBe(true);
});

test("[P2] a socket that continues as another participant has left as the first one", () => {
  const room = createPresenceRoom();
  room.update(ann("s1"));
  room.news();
  room.update(bob("s1"));
  expect(shown(room.news())).toEqual({ joined: [["s1"]], updated: [], left: ["user:ann"] });
});

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("say" as const), at: fc.nat(5), state: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("leave" as const), at: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("breakOff" as const), at: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("tell" as const) }) },
);

test("[P2] a listener that applies all changes knows who is present", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const room = createPresenceRoom();
      const view = new Map<string, readonly Attendee[]>();
      const live = new Map<string, Attendee>();
      const nameOf = (sessions: readonly Attendee[]) => `${sessions[0]?.participantKind}:${sessions[0]?.participantId}`;
      let now = 0;
      const tell = () => {
        const news = room.news();
        for (const sessions of news?.joined ?? []) {
          expect(view.has(nameOf(sessions))).toBe(false);
          view.set(nameOf(sessions), sessions);
        }
        for (const sessions of news?.updated ?? []) {
          expect(view.has(nameOf(sessions))).toBe(true);
          view.set(nameOf(sessions), sessions);
        }
        for (const participant of news?.left ?? []) expect(view.delete(participant)).toBe(true);
      };
      for (const one of steps) {
        if (one.do === "tell") {
          tell();
          continue;
        }
        // Three participants with two sessions each, some of the same device.
        const session = `s${one.at}`;
        if (one.do === "say") {
          const attendee: Attendee = {
            session,
            clientId: one.at % 4 === 3 ? null : `d${one.at % 3}`,
            participantKind: "user",
            participantId: `p${one.at % 3}`,
            state: String(one.state),
            spokeAt: ++now,
          };
          room.update(attendee);
          live.set(session, attendee);
        } else {
          room[one.do](session, 9);
          live.delete(session);
        }
        for (const { session: alive } of live.values()) expect(has(room, alive)).toBe(true);
      }
      tell();
      expect([...view.values()].map((sessions) => sessions[0]?.participantId).sort()).toEqual(
        room
          .participants()
          .map((sessions) => sessions[0]?.participantId)
          .sort(),
      );
      for (const sessions of room.participants()) {
        expect(view.get(nameOf(sessions))).toEqual(sessions);
        expect([...sessions].sort((a, b) => b.spokeAt - a.spokeAt)).toEqual(sessions);
        // Of a device that is back nothing broken is left.
        for (const one of sessions)
          for (const other of sessions)
            if (one !== other && one.clientId !== null && one.clientId === other.clientId && live.has(one.session))
              expect(live.has(other.session) || other.spokeAt > one.spokeAt).toBe(true);
      }
    }),
    { seed: 20_260_131, numRuns: 500 },
  );
});
