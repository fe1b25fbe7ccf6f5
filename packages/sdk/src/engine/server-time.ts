import type { Clock } from "./ports.ts";

/** Much less than the day between the age at which a write is not sent and the one at which its receipt is forgotten. */
export const SLEPT_MS = 3_600_000;

/** What an answer says of the server's time. Undefined: the device has slept, or its clock was set, since the request. */
export const timeOf = (
  { serverTime }: { readonly serverTime?: string | undefined },
  begunAt: number,
  clock: Clock,
): string | undefined => (Math.abs(clock.now() - begunAt) < SLEPT_MS ? serverTime : undefined);
