/** The lines that one text has and the other has not, from the first difference on: `- ` the old ones, `+ ` the new. */
export function changedLines(before: string, now: string, atMost = 20): readonly string[] {
  const [old, fresh] = [before.split("\n"), now.split("\n")];
  const missing = (from: readonly string[], other: readonly string[], sign: string) => {
    const known = new Set(other);
    return from.filter((line) => !known.has(line)).map((line) => `${sign} ${line}`);
  };
  const lines = [...missing(old, fresh, "-"), ...missing(fresh, old, "+")];
  return lines.length > atMost ? [...lines.slice(0, atMost), `… and ${lines.length - atMost} more`] : lines;
}
