import { type RefObject, useEffect, useMemo, useRef, useSyncExternalStore } from "react";
import { type IsEqual, shallowEqual } from "../equal.ts";

/**
 * The one subscription that every hook is made of: asks a question, selects from the answer, and renders again only
 * when the selection has changed.
 *
 * `read` has to keep its identity while it asks the same question, and so has `readFirst`: what a server rendered, and
 * what a browser shows while it takes that over. `select` may be written inline: its result is kept as long as neither
 * the answer nor, by `isEqual`, the result itself has changed, so that a selector which makes a new object each time
 * neither loops nor renders for nothing.
 */
export function useSource<Answer, T = Answer>(
  subscribe: (listener: () => void) => () => void,
  read: () => Answer,
  readFirst: () => Answer,
  select?: (answer: Answer) => T,
  isEqual: IsEqual<T> = shallowEqual,
): T {
  const shown = useRef<Shown<T> | undefined>(undefined);
  const [now, first] = useMemo(
    () => [selected(read, shown, isEqual, select), selected(readFirst, shown, isEqual, select)],
    [read, readFirst, select, isEqual],
  );
  const value = useSyncExternalStore(subscribe, now, first);
  useEffect(() => {
    shown.current = { value };
  }, [value]);
  return value;
}

interface Shown<T> {
  readonly value: T;
}

function selected<Answer, T>(
  read: () => Answer,
  shown: RefObject<Shown<T> | undefined>,
  isEqual: IsEqual<T>,
  select: ((answer: Answer) => T) | undefined,
): () => T {
  // Kept in this closure and not in a ref: React may prepare several renders, with other selectors, side by side.
  let last: { readonly answer: Answer; readonly value: T } | undefined;
  return () => {
    const answer = read();
    if (last && Object.is(last.answer, answer)) return last.value;
    const value = select ? select(answer) : (answer as unknown as T);
    const before = last ?? shown.current;
    last = { answer, value: before && isEqual(before.value, value) ? before.value : value };
    return last.value;
  };
}
