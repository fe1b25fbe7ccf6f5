/** Parses `Retry-After`, in seconds or as a date, into milliseconds from now. */
export function retryAfterMs(said: string | null | undefined, now: number): number | undefined {
  if (said === null || said === undefined) return undefined;
  const ms = /^\d+$/.test(said) ? Number(said) * 1_000 : Date.parse(said) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}
