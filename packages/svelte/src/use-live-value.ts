import type { LiveValue } from "@holdfast/sdk/bindings";
import { onDestroy } from "svelte";
import { createSubscriber } from "svelte/reactivity";
import { toStore } from "svelte/store";

/** A value that changes. A template, an effect or a derived that reads `current` runs again when it is another one. */
export interface Current<T> {
  readonly current: T;
}

/** An argument, or a getter of it, which may read state. */
export type Given<T> = T | (() => T);

export const argumentOf = <T>(given: Given<T>): T => (typeof given === "function" ? (given as () => T)() : given);

/** What `open` returns for the argument. It is called again only when that says something else. */
export function onceOpened<A, T>(given: Given<A>, open: (argument: A) => T): () => T {
  let last: { readonly text: string; readonly opened: T } | undefined;
  return () => {
    const argument = argumentOf(given);
    const text = JSON.stringify([argument]);
    if (last?.text !== text) last = { text, opened: open(argument) };
    return last.opened;
  };
}

/** `open` may read state, and returns the same live value for the same arguments. */
export function useLiveValue<T>(open: () => LiveValue<T>): Current<T> {
  let last: { readonly live: LiveValue<T>; readonly value: Current<T> } | undefined;
  return {
    get current() {
      const live = open();
      if (last?.live !== live) last = { live, value: currentOf(live) };
      return last.value.current;
    },
  };
}

/** Subscribes as long as an effect reads it. */
function currentOf<T>(live: LiveValue<T>): Current<T> {
  const track = createSubscriber((update) => {
    // What was last told, not what was last read: code outside of effects may read a value before its effects are told.
    let told = live.read();
    return live.subscribe(() => {
      const now = live.read();
      if (Object.is(told, now)) return;
      told = now;
      update();
    });
  });
  return {
    get current() {
      track();
      return live.read();
    },
  };
}

/** Subscribes until the component is destroyed, whether or not it reads the value. */
export function untilDestroyed<T>(value: Current<T>): Current<T> {
  onDestroy(toStore(() => value.current).subscribe(() => {}));
  return value;
}
