import { setTimeout as pause } from "node:timers/promises";
import type { TestEnvironment } from "../environment/test-environment.ts";
import { play, type Scenario, unless } from "./scenario.ts";

const TRIES = 12;

/** The lease has a token: a server that resumes with an old one saves no outcome and blocks no other server. */
export const stalledSender: Scenario = {
  title:
    "a server stands still with a request on its way, another one takes over; the first one goes on and changes nothing",
  play: (setting) =>
    play(setting, { servers: 2, times: { schedule: [0, 50, 50, 50, 50, 50, 50, 50] } }, async (environment) => {
      await environment.register("stalled");
      let tried = 0;
      let isTakenOver = false;
      // A slow machine can favour one of the servers, so the suspended one alternates.
      while (!isTakenOver && tried < TRIES) isTakenOver = await takeOver(environment, tried++);
      await environment.settle(setting.patienceMs);
      const evidence = await environment.evidence();
      return {
        evidence,
        unmet: unless([isTakenOver, `in ${tried} tries, the server that was stopped never was the one that sent`]),
        figures: { tries: tried },
      };
    }),
};

/** Either server may send first. Returns false if it was not the suspended one. */
async function takeOver(
  { receiver, records, senders, times, ...environment }: TestEnvironment,
  n: number,
): Promise<boolean> {
  await receiver.script("stalled", ["held"]);
  await environment.fill(5, `stalled-${n}`);
  const first = await receiver.holds("stalled");
  const stopped = senders.freeze(n % 2);
  await receiver.script("stalled", ["held"]);
  const second = receiver.holds("stalled");
  // The running server takes over after a while, or none does.
  const isGivenUp = () => records.notes.get(first.name)?.ended !== undefined;
  const isSenders = !(await environment.until(isGivenUp, times.requestMs + 500));
  const { resume } = await second;
  stopped.resume();
  // It saves this outcome while the other server waits.
  if (isSenders) await pause(times.requestMs / 4);
  await resume("204");
  await first.resume("204");
  return isSenders;
}
