import { expect, test } from "vitest";
import { startApp } from "../../../testing/app.ts";
import { smallServers } from "../../../testing/small-server.ts";
import { becomes, handOver, idsIn, newRoom, peopleOf, seesNoReload, told } from "../../../testing/waiting/people.ts";

const GRACE_MS = 5_000;
const presenceTimes = { graceMs: GRACE_MS, beatMs: 300, silentMs: 5_000 };
const app = await startApp({ presenceTimes });
const second = await app.another();
const [here, there] = [app.url, second.server.url];
const { enter } = peopleOf(app);
const startProcess = smallServers(app);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test("[P5] a reload is not seen, neither here nor from another process", () =>
  seesNoReload({ enter }, { here, there, away: () => pause(GRACE_MS / 10), after: () => pause(GRACE_MS + 300) }));

test("[P8] a process that is killed leaves ghosts for a short while only", async () => {
  const room = newRoom();
  const near = await enter(room, { id: "near" });
  const { url, child } = await startProcess(256, { presenceTimes });
  await enter(room, { id: "ghost", url });
  await becomes(() => idsIn(near, room), ["ghost", "near"]);
  // A living process is not forgotten, however long nothing happens.
  await pause(presenceTimes.silentMs * 1.5);
  expect(idsIn(near, room)).toEqual(["ghost", "near"]);
  const killed = performance.now();
  child.kill("SIGKILL");
  await becomes(() => idsIn(near, room), ["near"]);
  expect(performance.now() - killed).toBeLessThan(presenceTimes.silentMs + presenceTimes.beatMs + 10_000);
});

test("[P8] a process that stops hands its people over: who comes back elsewhere was never gone", async () => {
  const { room, near, stopped, stoppedAt, expectBack } = await handOver(app, { enter }, there);
  await becomes(() => idsIn(near, room), ["ann", "near"]);
  expect(performance.now() - stoppedAt).toBeLessThan(GRACE_MS + 10_000);
  await stopped;
  await pause(GRACE_MS);
  expect(told(near, room).flatMap(({ left }) => left)).toEqual(["agent:bob"]);
  expectBack();
});
