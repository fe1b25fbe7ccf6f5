/** Texts, which are skipped, and numbers. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/gs;
const LONG_WHOLE = /^-?\d{16,}$/;

/**
 * Whole numbers of a JSON text that are written with digits which a double does not keep, as their doubles:
 * `9007199254740993` becomes ...992. A number with a fraction or an exponent is meant as a double, and so are the
 * digits that JavaScript itself writes for one.
 */
export function roundedNumbers(text: string): ReadonlySet<number> {
  const rounded = new Set<number>();
  for (const [token] of text.matchAll(TOKENS)) {
    if (!LONG_WHOLE.test(token)) continue;
    const value = Number(token);
    const isKept = !Number.isFinite(value) || String(value) === token || BigInt(value) === BigInt(token);
    if (!isKept) rounded.add(value);
  }
  return rounded;
}
