import { useState } from "react";
import { deepEqual } from "../equal.ts";

/** Returns the first value as long as later ones are equal to it. */
export function useFirstOfEquals<T>(value: T): T {
  // Not a state update: a value that differs in each render, such as the current date, would render forever. After an
  // abandoned render, the next value is compared with the abandoned one.
  const [first] = useState({ value });
  if (!deepEqual(first.value, value)) first.value = value;
  return first.value;
}
