import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { turns } from "./turns.ts";

test("[DS30] work with a key in common runs one after the other, in order; other work does not wait", async () => {
  const inTurn = turns<string>(1_000, "late");
  const events: string[] = [];
  const run = (name: string, keys: readonly string[], ms: number) =>
    inTurn(keys, async () => {
      events.push(`${name} begins`);
      await pause(ms);
      events.push(`${name} ends`);
      return name;
    });
  const all = [
    run("first", ["a", "b"], 30),
    run("second", ["b", "c"], 20),
    run("third", ["c"], 0),
    run("other", ["d"], 0),
  ];
  expect(await Promise.all(all)).toEqual(["first", "second", "third", "other"]);
  expect(events.filter((event) => !event.startsWith("other"))).toEqual([
    ...["first begins", "first ends", "second begins", "second ends", "third begins", "third ends"],
  ]);
  expect(events.indexOf("other ends")).toBeLessThan(events.indexOf("first ends"));
});

test("[DS30] repetitions wait for the first of them alone, however long, and then run at once", async () => {
  const inTurn = turns<string>(20, "late");
  let [open, most] = [0, 0];
  const work = (ms: number) => async () => {
    most = Math.max(most, ++open);
    await pause(ms);
    open -= 1;
    return "done";
  };
  const first = inTurn(["record", "name"], work(60), ["name"]);
  const again = Array.from({ length: 5 }, () => inTurn(["record", "name"], work(10), ["name"]));
  expect(await Promise.all([first, ...again])).toEqual(Array.from({ length: 6 }, () => "done"));
  expect(most).toBe(5);
});

test("[DS30] work that fails does not stop what waits for it; what waits too long is not run", async () => {
  const inTurn = turns<string>(20, "late");
  const failing = inTurn(["a"], async () => {
    await pause(1);
    throw new Error("no");
  });
  const next = inTurn(["a"], async () => {
    await pause(50);
    return "next";
  });
  let ran = false;
  const impatient = inTurn(["a"], async () => {
    ran = true;
    return "ran";
  });
  await expect(failing).rejects.toThrow("no");
  expect(await next).toBe("next");
  expect([await impatient, ran]).toEqual(["late", false]);
  expect(await inTurn(["a"], async () => "at once")).toBe("at once");
});
