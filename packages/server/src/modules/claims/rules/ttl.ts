import { limits } from "@holdfast/sdk/protocol";
import { type Refusal, refuse } from "../../../kernel/refusal.ts";

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;
const SPELLED = /^(\d{1,9})(ms|s|m|h)$/;

/** Parses the lifetime of a claim in milliseconds: a whole number, or text such as `30s`. Never clamped. */
export function readTtl(ttl: string | number | undefined): number | undefined | Refusal {
  if (ttl === undefined) return undefined;
  const ms = typeof ttl === "number" ? ttl : spelled(ttl);
  const fits = Number.isInteger(ms) && ms >= limits.claimTtlMinMs && ms <= limits.claimTtlMaxMs;
  return fits ? ms : refuse("invalid_ttl", { param: "ttl" });
}

function spelled(text: string): number {
  const [, count, unit] = SPELLED.exec(text) ?? [];
  return count === undefined ? Number.NaN : Number(count) * UNITS[unit as keyof typeof UNITS];
}
