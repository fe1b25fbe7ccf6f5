import type { LiveValue } from "@holdfast/sdk/bindings";
import { type Accessor, createComputed, createMemo, createSignal, onCleanup, untrack } from "solid-js";

/** An argument, or an accessor of it. */
export type Given<T> = T | Accessor<T>;

export const argumentOf = <T>(given: Given<T>): T => (typeof given === "function" ? (given as Accessor<T>)() : given);

/**
 * The value, until the owner is disposed of. `open` may read signals: when one of them changes, it is opened anew. What
 * depends on the result runs again only if the value is another one.
 */
export function useLiveValue<T>(open: () => LiveValue<T>): Accessor<T> {
  const live = createMemo(open);
  const [notified, notify] = createSignal(undefined, { equals: false });
  createComputed(() => {
    const { subscribe } = live();
    onCleanup(untrack(() => subscribe(() => notify())));
  });
  return createMemo(() => {
    notified();
    return live().read();
  });
}
