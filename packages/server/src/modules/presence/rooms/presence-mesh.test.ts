import fc from "fast-check";
import { expect, test } from "vitest";
import { createPresenceMesh, type PresenceMesh } from "./presence-mesh.ts";
import type { PresenceMessage } from "./presence-message.ts";

const TIMES = { graceMs: 500, beatMs: 1_000, silentMs: 2_500, settleMs: 150 };
const ROOM = "1 deck:a";

const someone = (session: string, participantId = session, state = "{}", clientId: string | null = null) => ({
  session,
  clientId,
  participantKind: "user" as const,
  participantId,
  state,
});

/** Processes whose messages arrive in order, unless one is lost. */
function tenant(names: readonly string[], isLost: (from: string) => boolean = () => false) {
  let now = 1_000_000;
  const alive = new Map<string, PresenceMesh>();
  const sent: { from: string; message: PresenceMessage }[] = [];
  const start = (name: string) => {
    const mesh = createPresenceMesh(name, TIMES);
    mesh.listening(now);
    alive.set(name, mesh);
    return mesh;
  };
  for (const name of names) start(name);
  const deliver = (from: string, messages: readonly PresenceMessage[]) => {
    for (const message of messages) {
      sent.push({ from, message });
      // As on the wire: processes share no values.
      for (const mesh of alive.values())
        if (!isLost(from)) mesh.receive(from, JSON.parse(JSON.stringify(message)), now);
    }
  };
  /** Delivers messages until no process has any left. */
  const exchange = () => {
    for (let round = 0; round < 20 && [...alive.values()].some(({ hasOutgoing }) => hasOutgoing); round++)
      for (const [name, mesh] of alive) deliver(name, mesh.outgoing());
  };
  const pass = (ms: number) => {
    now += ms;
    for (const mesh of alive.values()) mesh.tick(now);
  };
  const beat = () => {
    now += TIMES.beatMs;
    for (const mesh of alive.values()) {
      mesh.tick(now);
      mesh.beat(now);
    }
    exchange();
  };
  const mesh = (name: string) => alive.get(name) as PresenceMesh;
  return {
    mesh,
    start,
    exchange,
    pass,
    beat,
    sent,
    alive,
    now: () => now,
    update: (name: string, session: string, ...more: string[]) =>
      mesh(name).update(ROOM, someone(session, ...more), now),
    kill: (name: string) => void alive.delete(name),
    stop: (name: string) => {
      const messages = mesh(name).outgoing();
      alive.delete(name);
      deliver(name, [...messages, { kind: "bye" }]);
    },
    seen: (name: string, room = ROOM) =>
      mesh(name)
        .participants(room)
        .flatMap((sessions) => sessions.map(({ session, state }) => (state === "{}" ? session : `${session}${state}`)))
        .sort(),
  };
}

/** A session `a` in process x and a session `c` in process y. */
function pair(isLost?: () => boolean) {
  const w = tenant(["x", "y"], isLost);
  w.update("x", "a");
  w.update("y", "c");
  w.exchange();
  return w;
}

test("[P7] the first participant of a room in a process learns who is present, and the others get its join", () => {
  const w = tenant(["x", "y", "z"]);
  w.update("x", "a");
  w.update("x", "b");
  w.exchange();
  w.update("y", "c");
  expect(w.mesh("y").isSettled(ROOM, w.now())).toBe(false);
  w.exchange();
  expect(w.seen("x")).toEqual(["a", "b", "c"]);
  expect(w.seen("y")).toEqual(["a", "b", "c"]);
  expect(w.seen("z")).toEqual([]);
  w.mesh("x").update(ROOM, someone("a", "a", '{"n":1}'), w.now());
  w.mesh("y").leave(ROOM, "c");
  w.exchange();
  expect(w.seen("x")).toEqual(['a{"n":1}', "b"]);
  expect(w.seen("y")).toEqual([]);
});

test("[P7] the first participant in a room waits only for processes that have rooms, and never for long", () => {
  const w = tenant(["x", "y"]);
  w.update("x", "a");
  w.exchange();
  // Young processes do not know who else is there.
  expect(w.mesh("x").isSettled(ROOM, w.now())).toBe(false);
  expect(w.mesh("x").isSettled(ROOM, w.now() + 150)).toBe(true);
  for (let n = 0; n < 3; n++) w.beat();
  w.mesh("y").update("1 deck:b", someone("c"), w.now());
  expect(w.mesh("y").isSettled("1 deck:b", w.now())).toBe(false);
  w.exchange();
  expect(w.mesh("y").isSettled("1 deck:b", w.now())).toBe(true);
  const alone = tenant(["x"]);
  for (let n = 0; n < 3; n++) alone.beat();
  alone.update("x", "a");
  expect(alone.mesh("x").isSettled(ROOM, alone.now())).toBe(true);
});

test("[P7] [P13] a process without rooms sends nothing, and one whose rooms no other process shares sends no changes", () => {
  const w = tenant(["x", "y"]);
  w.update("x", "a");
  w.exchange();
  w.mesh("y").update("1 deck:other", someone("c"), w.now());
  w.exchange();
  w.sent.length = 0;
  w.mesh("x").update(ROOM, someone("a", "a", '{"n":1}'), w.now());
  w.exchange();
  expect(w.sent).toEqual([]);
  w.mesh("x").leave(ROOM, "a");
  w.mesh("y").leave("1 deck:other", "c");
  for (let n = 0; n < 5; n++) w.beat();
  expect(w.sent).toEqual([]);
});

test("[P7] [P12] a lost change is made up for by the next heartbeat", () => {
  let loses = false;
  const w = tenant(["x", "y"], () => loses);
  w.update("x", "a");
  w.update("x", "b");
  w.update("y", "c");
  w.exchange();
  loses = true;
  w.update("x", "a", "a", '{"n":1}');
  w.mesh("x").leave(ROOM, "b");
  w.exchange();
  loses = false;
  w.update("x", "d");
  w.exchange();
  expect(w.seen("y")).toEqual(["a", "b", "c", "d"]);
  w.beat();
  expect(w.seen("y")).toEqual(['a{"n":1}', "c", "d"]);
});

test.each([
  ["both lists", () => true],
  ["the second list", (from: string) => from === "y"],
])("[P7] if %s were lost when two processes entered a room, one heartbeat makes up for it", (_, isLost) => {
  let loses = true;
  const w = tenant(["x", "y"], (from) => loses && isLost(from));
  w.update("x", "a");
  w.exchange();
  w.update("y", "c");
  w.exchange();
  w.update("x", "b");
  w.exchange();
  loses = false;
  w.beat();
  for (const name of ["x", "y"]) expect(w.seen(name)).toEqual(["a", "b", "c"]);
});

test("[P7] [P12] a late list, older than what arrived before, is ignored", () => {
  const w = tenant(["x", "y"]);
  w.update("y", "c");
  w.update("x", "a");
  w.exchange();
  w.mesh("x").beat(w.now());
  const [late] = w.mesh("x").outgoing();
  w.update("x", "b");
  w.mesh("x").leave(ROOM, "a");
  w.exchange();
  w.mesh("y").receive("x", late as PresenceMessage, w.now());
  expect(w.seen("y")).toEqual(["b", "c"]);
  w.mesh("x").leave(ROOM, "b");
  w.exchange();
  w.mesh("y").receive("x", late as PresenceMessage, w.now());
  expect(w.seen("y")).toEqual(["c"]);
});

test("[P7] a thousand people join over two processes: each is sent once, and once more with a heartbeat", () => {
  const w = tenant(["x", "y"]);
  for (let n = 0; n < 1_000; n++) {
    w.update(n % 2 ? "x" : "y", `s${n}`);
    // What joins in the meantime is one message.
    if (n % 20 === 19) w.exchange();
  }
  for (const name of ["x", "y"]) expect(w.seen(name)).toHaveLength(1_000);
  // The first process sends its list again to the second.
  expect(w.sent.length).toBeLessThanOrEqual(102);
  expect(sessionsIn(w.sent)).toBeLessThanOrEqual(1_020);
  w.sent.length = 0;
  w.beat();
  expect(w.sent).toHaveLength(2);
  expect(sessionsIn(w.sent)).toBe(1_000);
  expect(w.mesh("y").changedRooms()).toEqual([ROOM]);
  expect(w.mesh("y").news(ROOM)?.joined).toHaveLength(1_000);
  w.beat();
  expect(w.mesh("y").changedRooms()).toEqual([]);
});

test("[P7] a process that was cut off requests all states when it is reconnected", () => {
  let loses = false;
  const w = pair(() => loses);
  loses = true;
  w.update("x", "a2", "a");
  w.update("y", "d");
  w.exchange();
  loses = false;
  w.mesh("y").listening(w.now());
  w.exchange();
  for (const name of ["x", "y"]) expect(w.seen(name)).toEqual(["a", "a2", "c", "d"]);
});

test("[P8] a process that is killed is forgotten when it was silent for long, and not before", () => {
  const w = pair();
  w.beat();
  w.kill("x");
  for (let n = 0; n < 2; n++) w.beat();
  expect(w.seen("y")).toEqual(["a", "c"]);
  w.beat();
  expect(w.seen("y")).toEqual(["c"]);
  w.mesh("y").update("1 deck:b", someone("d"), w.now());
  expect(w.mesh("y").isSettled("1 deck:b", w.now())).toBe(true);
});

test("[P8] a process that was suspended forgets no participant before it has listened again", () => {
  const w = pair();
  w.beat();
  w.mesh("y").news(ROOM);
  w.pass(10 * TIMES.silentMs);
  w.beat();
  expect(w.seen("y")).toEqual(["a", "c"]);
  expect(w.mesh("y").news(ROOM)).toBe(undefined);
  w.kill("x");
  for (let n = 0; n < 6; n++) w.beat();
  expect(w.seen("y")).toEqual(["c"]);
});

test("[P8] a process that fell silent and was forgotten is there again with its next heartbeat", () => {
  let isCut = false;
  const w = pair(() => isCut);
  isCut = true;
  for (let n = 0; n < 4; n++) w.beat();
  for (const [name, one] of [
    ["x", "a"],
    ["y", "c"],
  ] as const)
    expect(w.seen(name)).toEqual([one]);
  w.update("x", "b");
  w.exchange();
  isCut = false;
  w.beat();
  for (const name of ["x", "y"]) expect(w.seen(name)).toEqual(["a", "b", "c"]);
});

test("[P8] sessions of a process that said goodbye stay visible for the grace period, so that reconnecting causes no leave", () => {
  const w = tenant(["x", "y", "z"]);
  w.update("x", "a", "ann", "{}", "tab");
  w.update("x", "b", "bob", "{}", "tab");
  w.update("y", "c");
  w.exchange();
  w.mesh("y").news(ROOM);
  w.stop("x");
  expect(w.seen("y")).toEqual(["a", "b", "c"]);
  w.update("z", "a2", "ann", "{}", "tab");
  w.exchange();
  const back = w.mesh("y").news(ROOM);
  expect(back?.joined).toEqual([]);
  expect(back?.left).toEqual([]);
  expect(back?.updated.map(([one]) => one?.session)).toEqual(["a2"]);
  w.pass(TIMES.graceMs);
  expect(w.mesh("y").news(ROOM)).toEqual({ joined: [], updated: [], left: ["user:bob"] });
  expect(w.seen("y")).toEqual(["a2", "c"]);
  expect(w.seen("z")).toEqual(["a2", "c"]);
});

test("[P5] grace: a broken session goes when it is over, and stays when its socket speaks before", () => {
  const w = tenant(["x", "y"]);
  w.update("x", "a", "ann", "{}", "tab");
  w.update("y", "c");
  w.exchange();
  w.mesh("x").breakOff(ROOM, "a", w.now());
  w.pass(TIMES.graceMs - 1);
  w.exchange();
  expect(w.seen("y")).toEqual(["a", "c"]);
  w.update("x", "a", "ann", "{}", "tab");
  w.pass(TIMES.graceMs);
  expect(w.seen("x")).toEqual(["a", "c"]);
  w.mesh("x").breakOff(ROOM, "a", w.now());
  w.pass(TIMES.graceMs);
  w.exchange();
  expect(w.seen("y")).toEqual(["c"]);
});

test("[P5] a device that comes back in another process takes the place of its broken session everywhere", () => {
  const w = tenant(["x", "y", "z"]);
  w.update("x", "a", "ann", "{}", "tab");
  w.update("z", "c");
  w.exchange();
  w.mesh("z").news(ROOM);
  w.mesh("x").breakOff(ROOM, "a", w.now());
  w.update("y", "a2", "ann", "{}", "tab");
  w.exchange();
  for (const name of ["y", "z"]) expect(w.seen(name)).toEqual(["a2", "c"]);
  expect(w.seen("x")).toEqual([]);
  expect(w.mesh("z").news(ROOM)).toMatchObject({ joined: [], left: [] });
});

test("[P2] of two sessions that are active at the same moment, in one process or in two, the later one comes first", () => {
  const w = tenant(["x", "y"]);
  w.update("y", "c");
  const order = () =>
    w
      .mesh("y")
      .participants(ROOM)
      .find(([one]) => one?.participantId === "ann")
      ?.map(({ session }) => session);
  for (const [process, session] of [
    ["x", "a2"],
    ["x", "a1"],
    ["y", "a0"],
    ["x", "a2"],
  ] as const) {
    w.update(process, session, "ann", String(w.sent.length));
    w.exchange();
    expect(order()?.[0]).toBe(session);
  }
  expect(order()).toEqual(["a2", "a0", "a1"]);
});

test("[P7] a participant that leaves and returns before the flush is sent once", () => {
  const w = pair();
  w.sent.length = 0;
  w.mesh("x").leave(ROOM, "a");
  w.update("x", "a");
  expect(w.mesh("x").outgoing()).toMatchObject([
    { rooms: [{ kind: "whole", asks: true, attendees: [{ session: "a" }] }] },
  ]);
});

test("[P8] a process that sent goodbye is not waited for", () => {
  const w = tenant(["x", "y"]);
  for (let n = 0; n < 3; n++) w.beat();
  w.update("x", "a");
  w.exchange();
  w.update("y", "c");
  w.stop("x");
  expect(w.mesh("y").isSettled(ROOM, w.now())).toBe(true);
  w.mesh("y").update("1 deck:b", someone("d"), w.now());
  expect(w.mesh("y").isSettled("1 deck:b", w.now())).toBe(true);
});

test("[P7] many rooms share a message, and alone in its rooms a process sends a sign instead of its lists", () => {
  const w = tenant(["x", "y"]);
  for (let n = 0; n < 120; n++) w.mesh("x").update(`1 deck:${n}`, someone(`s${n}`), w.now());
  w.exchange();
  const sizes = () => w.sent.map(({ message }) => message.kind === "rooms" && message.rooms.length);
  expect(sizes()).toEqual([50, 50, 20]);
  w.sent.length = 0;
  w.beat();
  expect(sizes()).toEqual([50, 50, 20]);
  expect(sessionsIn(w.sent)).toBe(0);
});

/** How many sessions the messages name. */
const sessionsIn = (sent: readonly { readonly message: PresenceMessage }[]): number =>
  sent
    .flatMap(({ message }) => (message.kind === "rooms" ? message.rooms : []))
    .reduce((sum, one) => sum + (one.kind === "whole" ? one.attendees : one.said).length, 0);

const ROOMS = [ROOM, "1 deck:b"];
const NAMES = ["x", "y", "z"];
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("say" as const), who: fc.nat(8), room: fc.nat(1), state: fc.nat(2) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("leave" as const), who: fc.nat(8), room: fc.nat(1) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("break" as const), who: fc.nat(8), room: fc.nat(1) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("exchange" as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("pass" as const), ms: fc.nat(400) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("beat" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("relisten" as const), process: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("late" as const), back: fc.integer({ min: 1, max: 9 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("end" as const), process: fc.nat(2), kindly: fc.boolean() }) },
);

test("[P7] with lost and late messages and killed processes, after some heartbeats every process sees exactly the living sessions", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.infiniteStream(fc.nat(99)), fc.nat(40), (steps, random, loss) => {
      let isCalm = false;
      const w = tenant(NAMES, () => !isCalm && (random.next().value as number) < loss);
      let generation = 0;
      const names = [...NAMES];
      /** Room → session → its process, state. */
      const live = ROOMS.map(() => new Map<string, { process: string; state: string }>());
      const sessionOf = (who: number) => ({ session: `s${who}@${names[who % 3]}`, process: names[who % 3] as string });
      const clientViews = new Map<string, Map<string, string>>();
      const follow = () => {
        for (const [process, mesh] of w.alive)
          for (const room of ROOMS) {
            if (!mesh.participants(room).length) {
              clientViews.delete(`${process} ${room}`);
              continue;
            }
            const view = clientViews.get(`${process} ${room}`);
            const news = mesh.news(room);
            if (!view) {
              clientViews.set(`${process} ${room}`, viewOf(mesh, room));
              continue;
            }
            for (const sessions of [...(news?.joined ?? []), ...(news?.updated ?? [])])
              view.set(`user:${sessions[0]?.participantId}`, JSON.stringify(sessions));
            for (const participant of news?.left ?? []) view.delete(participant);
            expect(view).toEqual(viewOf(mesh, room));
          }
      };
      for (const one of steps) {
        switch (one.do) {
          case "say": {
            const { session, process } = sessionOf(one.who);
            const [room, state] = [ROOMS[one.room] as string, String(one.state)];
            w.mesh(process).update(room, someone(session, `p${one.who % 4}`, state, `d${one.who % 2}`), w.now());
            live[one.room]?.set(session, { process, state });
            break;
          }
          case "leave":
          case "break": {
            const { session, process } = sessionOf(one.who);
            if (one.do === "leave") w.mesh(process).leave(ROOMS[one.room] as string, session);
            else w.mesh(process).breakOff(ROOMS[one.room] as string, session, w.now());
            live[one.room]?.delete(session);
            break;
          }
          case "exchange":
            w.exchange();
            break;
          case "pass":
            w.pass(one.ms);
            break;
          case "beat":
            w.beat();
            break;
          case "relisten":
            w.mesh(names[one.process] as string).listening(w.now());
            break;
          case "late": {
            const late = w.sent.at(-one.back);
            if (late) for (const mesh of w.alive.values()) mesh.receive(late.from, late.message, w.now());
            break;
          }
          case "end": {
            const process = names[one.process] as string;
            if (one.kindly) w.stop(process);
            else w.kill(process);
            for (const room of live)
              for (const [session, { process: holder }] of room) if (holder === process) room.delete(session);
            names[one.process] = `${NAMES[one.process]}${++generation}`;
            w.start(names[one.process] as string);
            break;
          }
        }
        follow();
      }
      isCalm = true;
      for (let n = 0; n < 5; n++) {
        w.beat();
        follow();
      }
      ROOMS.forEach((room, i) => {
        const there = [...(live[i] ?? [])].map(([session, { state }]) => `${session}${state}`).sort();
        const holders = new Set([...(live[i]?.values() ?? [])].map(({ process }) => process));
        for (const name of names)
          expect([room, name, w.seen(name, room)]).toEqual([room, name, holders.has(name) ? there : []]);
      });
    }),
    { seed: 20_260_131, numRuns: 1_000 },
  );
});

const viewOf = (mesh: PresenceMesh, room: string) =>
  new Map(
    mesh
      .participants(room)
      .map((sessions) => [`user:${sessions[0]?.participantId}`, JSON.stringify(sessions)] as const),
  );
