import { isDateTime } from "@holdfast/sdk/protocol";
import { type Refusal, refuse } from "../../refusal.ts";

/** A range of UTC days, both included: `2026-01-01` to `2026-01-31`. */
export interface UsagePeriod {
  readonly from: string;
  readonly to: string;
}

const DAY_MS = 86_400_000;
const USUAL_DAYS = 30;

/** Parses a period from days or times. Without a start: the last 30 days up to its end, by default today. */
export function usagePeriod(
  startingAt: string | undefined,
  endingAt: string | undefined,
  now: number,
): UsagePeriod | Refusal {
  const to = endingAt === undefined ? dayOf(now) : dayNamed(endingAt);
  if (to === undefined) return unreadable("ending_at");
  const from = startingAt === undefined ? daysBefore(to, USUAL_DAYS - 1) : dayNamed(startingAt);
  if (from === undefined) return unreadable("starting_at");
  return from <= to
    ? { from, to }
    : refuse("invalid_value", { param: "starting_at", message: `"starting_at" must not be after "ending_at".` });
}

/** The UTC day of a time. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** Undefined if the text is neither a day nor a time. */
function dayNamed(text: string): string | undefined {
  if (isDay(text)) return text;
  if (!isDateTime(text)) return undefined;
  const day = dayOf(Date.parse(text));
  // The offset may move the time into year 0 or 10 000.
  return isDay(day) ? day : undefined;
}

function daysBefore(day: string, count: number): string {
  const before = dayOf(Date.parse(day) - count * DAY_MS);
  return isDay(before) ? before : FIRST_DAY;
}

const isDay = (text: string): boolean => isDateTime(`${text}T00:00:00Z`);
const FIRST_DAY = "0001-01-01";

const unreadable = (param: string): Refusal =>
  refuse("invalid_value", { param, message: `"${param}" must be a day like 2026-01-31, or an RFC 3339 date-time.` });
