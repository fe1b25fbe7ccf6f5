import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { turns } from "./turns.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Work that a test ends, and that notes its beginning and end. */
function createWork() {
  const events: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) => async () => {
    events.push(`${name} begins`);
    await new Promise<void>((resolve) => ends.set(name, resolve));
    events.push(`${name} ends`);
    return name;
  };
  /** Ends the work of this name, and lets what waited for it begin. */
  const end = async (name: string) => {
    ends.get(name)?.();
    await vi.advanceTimersByTimeAsync(0);
  };
  return { events, work, end };
}

test("[DS30] work with a key in common runs one after the other, in order; other work does not wait", async () => {
  const inTurn = turns<string>(1_000, "late");
  const { events, work, end } = createWork();
  const all = [
    inTurn(["a", "b"], work("first")),
    inTurn(["b", "c"], work("second")),
    inTurn(["c"], work("third")),
    inTurn(["d"], work("other")),
  ];
  await vi.advanceTimersByTimeAsync(0);
  expect(events).toEqual(["first begins", "other begins"]);
  for (const name of ["other", "first", "second", "third"]) await end(name);
  expect(await Promise.all(all)).toEqual(["first", "second", "third", "other"]);
  expect(events.slice(2)).toEqual([
    ...["other ends", "first ends", "second begins", "second ends", "third begins", "third ends"],
  ]);
});

test("[DS30] repetitions wait for the first of them alone, however long, and then run at once", async () => {
  const inTurn = turns<string>(20, "late");
  const { events, work, end } = createWork();
  const first = inTurn(["record", "name"], work("first"), ["name"]);
  const names = ["1", "2", "3", "4", "5"];
  const again = names.map((name) => inTurn(["record", "name"], work(name), ["name"]));
  await vi.advanceTimersByTimeAsync(60);
  expect(events).toEqual(["first begins"]);
  await end("first");
  expect(events.slice(2)).toEqual(names.map((name) => `${name} begins`));
  for (const name of names) await end(name);
  expect(await Promise.all([first, ...again])).toEqual(["first", ...names]);
});

test("[DS30] work that fails does not stop what waits for it; what waits too long is not run", async () => {
  const inTurn = turns<string>(20, "late");
  const { events, work, end } = createWork();
  const failing = inTurn(["a"], () => Promise.reject(new Error("no")));
  const next = inTurn(["a"], work("next"));
  const impatient = inTurn(["a"], work("impatient"));
  await expect(failing).rejects.toThrow("no");
  await vi.advanceTimersByTimeAsync(21);
  await end("next");
  expect(await next).toBe("next");
  expect(await impatient).toBe("late");
  expect(events).toEqual(["next begins", "next ends"]);
  expect(await inTurn(["a"], async () => "at once")).toBe("at once");
});
