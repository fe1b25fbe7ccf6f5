import { useState } from "react";
import { deepEqual } from "./equal.ts";

/** The value as first seen, as long as those after it say the same. */
export function useFirstOfEquals<T>(value: T): T {
  const [first, setFirst] = useState(value);
  if (deepEqual(first, value)) return first;
  setFirst(value);
  return value;
}
