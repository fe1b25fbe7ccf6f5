import { useState } from "react";
import { deepEqual } from "../equal.ts";

/** The value as first seen, as long as those after it say the same. */
export function useFirstOfEquals<T>(value: T): T {
  // Not set as state: a value that differs each time, such as a date of this moment, would render for ever. A render that
  // React gives up leaves a value here that the next one compares with its own.
  const [first] = useState({ value });
  if (!deepEqual(first.value, value)) first.value = value;
  return first.value;
}
