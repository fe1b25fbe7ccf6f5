import { expect } from "vitest";
import { until } from "../../../../../scripts/testing/until.ts";
import type { App } from "../app.ts";
import { presenceFrames, roomOf } from "../stream/room.ts";
import { follow, type TestStream } from "../stream/stream.ts";

export interface Who {
  readonly id: string;
  readonly url?: string;
  readonly clientId?: string;
  readonly rooms?: readonly string[];
  /** The tenant's key. Absent: the live one. */
  readonly key?: string;
}

/** Opens streams of participants and lets them enter rooms. */
export function peopleOf(app: App) {
  /** A token of one participant, for some rooms. */
  const tokenOf = async (participantId: string, syncGroups: readonly string[], token = app.keys.live) => {
    const json = { participantId, operations: ["slide.read"], syncGroups };
    // A server that is too busy says 503, and is asked again.
    const { body } = await until(async () => {
      const answer = await app.call("POST", "/v1/capabilities", { json, token });
      expect(answer.status).toBe(201);
      return answer;
    });
    return String(body.token);
  };

  async function open(room: string, { id, url = app.url, clientId, rooms = [room], key }: Who): Promise<TestStream> {
    return await follow(url, await tokenOf(id, rooms, key), {
      ...(clientId !== undefined && { clientId }),
    });
  }

  async function enter(room: string, who: Who, state: object = { of: who.id }): Promise<TestStream> {
    const stream = await open(room, who);
    stream.send({ frame: "presence", room, state });
    await stream.next("presence");
    return stream;
  }

  return { open, enter };
}

let counter = 0;
export const newRoom = () => `deck:r${++counter}`;

export const idsIn = (stream: TestStream, room: string) =>
  [...roomOf(stream, room).values()].map(({ participantId }) => participantId).sort();
export const statesOf = (stream: TestStream, room: string, id: string) =>
  roomOf(stream, room)
    .get(`agent:${id}`)
    ?.sessions.map(({ state }) => state);
export const told = (stream: TestStream, room: string) =>
  presenceFrames(stream.frames, room)
    .slice(1)
    .map(({ joined, updated, left }) => ({
      joined: joined.map(({ participantId }) => participantId),
      updated: updated.map(({ participantId }) => participantId),
      left,
    }));
export const becomes = (what: () => unknown, expected: unknown) =>
  until(async () => expect(await what()).toEqual(expected));
export const sessionOf = ({ frames }: TestStream) =>
  frames.flatMap((frame) => (frame.frame === "welcome" ? [frame.session] : [])).at(-1);
/** The other side does not get to say goodbye. */
const breakOff = (stream: TestStream) => stream.socket.terminate();

/** Ann and Bob are in a third process, which stops; Ann comes back elsewhere. */
export async function handOver(app: App, { enter }: Pick<ReturnType<typeof peopleOf>, "enter">, there: string) {
  const room = newRoom();
  const near = await enter(room, { id: "near" });
  const { server } = await app.another();
  const [ann, bob] = [
    await enter(room, { id: "ann", clientId: "tab", url: server.url }),
    await enter(room, { id: "bob", clientId: "tab", url: server.url }),
  ];
  await becomes(() => idsIn(near, room), ["ann", "bob", "near"]);
  const stoppedAt = performance.now();
  const stopped = server.close();
  expect((await ann.closed).code).toBe(1012);
  expect((await bob.closed).code).toBe(1012);
  const back = await enter(room, { id: "ann", clientId: "tab", url: there }, { back: true });
  /** She is there as she came back, and was never gone. */
  const expectBack = () =>
    expect(roomOf(near, room).get("agent:ann")?.sessions).toEqual([
      { session: sessionOf(back), clientId: "tab", state: { back: true } },
    ]);
  return { room, near, stopped, stoppedAt, expectBack };
}

/** Bob here and Far in the other process see Ann come, reload three times, now here and now there, and never leave. */
export async function seesNoReload(
  { enter }: Pick<ReturnType<typeof peopleOf>, "enter">,
  { here, there, away = async () => {}, after = async () => {} }: Reloading,
): Promise<void> {
  const room = newRoom();
  const [bob, far] = [await enter(room, { id: "bob" }), await enter(room, { id: "far", url: there })];
  let ann = await enter(room, { id: "ann", clientId: "tab" }, { n: 0 });
  const all = ["ann", "bob", "far"];
  await becomes(() => [idsIn(bob, room), idsIn(far, room)], [all, all]);
  for (const [n, url] of [here, there, here].entries()) {
    breakOff(ann);
    await away();
    ann = await enter(room, { id: "ann", clientId: "tab", url }, { n: n + 1 });
    await becomes(() => [statesOf(bob, room, "ann"), statesOf(far, room, "ann")], [[{ n: n + 1 }], [{ n: n + 1 }]]);
  }
  await after();
  for (const stream of [bob, far]) {
    expect(told(stream, room).flatMap(({ left }) => left)).toEqual([]);
    expect(told(stream, room).filter(({ joined }) => joined.includes("ann")).length).toBeLessThanOrEqual(1);
    expect(roomOf(stream, room).get("agent:ann")?.sessions).toEqual([
      { session: sessionOf(ann), clientId: "tab", state: { n: 3 } },
    ]);
  }
}

interface Reloading {
  readonly here: string;
  readonly there: string;
  /** How long Ann is away each time. */
  readonly away?: () => Promise<unknown>;
  readonly after?: () => Promise<unknown>;
}
