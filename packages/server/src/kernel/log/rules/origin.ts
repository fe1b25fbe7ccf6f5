/** Where logs were last written, and where they are now: `<system identifier>/<timeline>/<database>/<transaction>`. */
export interface FoundOrigin {
  /** Null: not stored yet. */
  readonly origin: string | null;
  /** Undefined: the database does not say. */
  readonly actual: string | undefined;
}

/** "unknown": to be stored. "replaced": restored, copied or promoted, so the logs need new ids. */
export function judgeOrigin({ origin, actual }: FoundOrigin): "same" | "unknown" | "replaced" {
  if (actual === undefined || actual === origin) return "same";
  // Earlier releases stored the first two parts.
  return origin === null || (isShort(origin) && actual.startsWith(`${origin}/`)) ? "unknown" : "replaced";
}

const isShort = (origin: string): boolean => origin.split("/").length === 2;
