import { expect, test } from "vitest";
import { createStore } from "zustand/vanilla";
import { type ClientState, initialState } from "../core/state.ts";
import { fakeClock } from "../testing/fake-clock.ts";
import { drained } from "./drained.ts";
import { createEnding, until } from "./shutdown.ts";

const schema = { models: { slide: { fields: {} } } } as const;
const running = (): ClientState => ({ ...initialState({ schema, paused: false, sendAtMost: 1 }), life: "running" });

test("[N20] repeated waits leave no listeners behind", async () => {
  const store = createStore<ClientState>(running);
  const ending = createEnding();
  const clock = fakeClock();
  for (let i = 0; i < 1_000; i++) {
    await drained(store, clock, ending, 1_000);
    await until(store, ending, () => true);
    await ending.orEnd(Promise.resolve(i));
  }
  await Promise.resolve();
  expect(ending.listening).toBe(0);
  expect(clock.waiting).toBe(0);
  let isSo = false;
  const waiting = Array.from({ length: 10 }, () => until(store, ending, () => isSo));
  expect(ending.listening).toBe(10);
  isSo = true;
  store.setState({ ...store.getState() });
  await Promise.all(waiting);
  expect(ending.listening).toBe(0);
});

test("[N8] open promises reject when the client closes", async () => {
  const store = createStore<ClientState>(() => ({ ...running(), life: "starting" }));
  const ending = createEnding();
  const clock = fakeClock();
  const open = [
    drained(store, clock, ending, 1_000),
    until(store, ending, () => false),
    ending.orEnd(new Promise(() => {})),
  ];
  ending.end(new Error("closed"));
  for (const one of [...open, drained(store, clock, ending), until(store, ending, () => false)])
    await expect(one).rejects.toThrow("closed");
  expect(ending.listening).toBe(0);
  expect(clock.waiting).toBe(0);
});
