import { isRecordId } from "../protocol/record-id.ts";
import type { Clock, Random } from "./ports.ts";
import { systemClock, systemRandom } from "./system.ts";

/*
 * An app may bring its own clock and random numbers. Where one throws or gives what it cannot mean, the last good time,
 * a timer of the system or a random number of the system stands in, so that no wait becomes NaN and no timer is lost.
 */

/** `report` is told what is wrong. */
export type Report = (error: Error) => void;

export function appClock(clock: Clock, report: Report): Clock {
  const read = (name: "now" | "monotonic") => {
    let last = systemClock[name]();
    return () => {
      last = meant(() => clock[name](), Number.isFinite, `clock.${name}`, report) ?? last;
      return last;
    };
  };
  return {
    now: read("now"),
    monotonic: read("monotonic"),
    wait(ms, then) {
      let isOver = false;
      // A timer fires once, however often the clock calls back.
      const once = () => {
        if (isOver) return;
        isOver = true;
        then();
      };
      const cancel =
        meant(
          () => clock.wait(ms, once),
          (stop) => typeof stop === "function",
          "clock.wait",
          report,
        ) ?? systemClock.wait(ms, once);
      return () => {
        isOver = true;
        cancel();
      };
    },
  };
}

export const appRandom = (random: Random, report: Report): Random => ({
  roll: () =>
    meant(
      () => random.roll(),
      (n) => n >= 0 && n < 1,
      "random.roll",
      report,
    ) ?? systemRandom.roll(),
  id: () => meant(() => random.id(), isId, "random.id", report) ?? systemRandom.id(),
});

/** It names writes and records, and names of writes are shorter. */
const isId = (id: unknown): boolean => isRecordId(id) && id.length <= 200;

function meant<T>(call: () => T, isMeant: (result: T) => boolean, name: string, report: Report): T | undefined {
  try {
    const result = call();
    if (isMeant(result)) return result;
    // A promise that rejects would end a process of Node.
    void Promise.resolve(result).catch(() => {});
    report(new Error(`${name} of the platform returned ${typeof result}, which it must not return.`));
  } catch (error) {
    report(new Error(`${name} of the platform failed.`, { cause: error }));
  }
  return undefined;
}
