import { type RefObject, useEffect, useMemo, useRef, useSyncExternalStore } from "react";
import { type IsEqual, shallowEqual } from "../equal.ts";

/**
 * The subscription behind every hook: reads a value, selects from it, and renders again only if the selection has
 * changed.
 *
 * `read` must keep its identity as long as it reads the same. So must `readFirst`, which provides the value on a server
 * and during hydration. `select` may be inline: its result is reused until the value or, by `isEqual`, the result has
 * changed. A selector that creates a new object each time causes neither a loop nor needless renders.
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
  // In this closure and not in a ref, because React may prepare several renders with other selectors concurrently.
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
