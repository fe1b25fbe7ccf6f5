import { UsageError } from "./usage-error.ts";

/** The value of an option that takes a whole number from 0 on. */
export function wholeNumber(option: string, text: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(value)) return value;
  throw new UsageError(`${option} must be a whole number (got "${text}").`);
}
