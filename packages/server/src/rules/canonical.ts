/**
 * JSON with sorted keys and without whitespace: two bodies that mean the same give the same text. `without` is a key
 * of the outermost object that does not count.
 */
export function canonical(value: unknown, without?: string): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item)).join(",")}]`;
  const record = value as Record<string, unknown>;
  let text = "";
  for (const key of Object.keys(record).sort()) {
    const item = record[key];
    if (item === undefined || key === without) continue;
    text += `${text === "" ? "{" : ","}${JSON.stringify(key)}:${canonical(item)}`;
  }
  return text === "" ? "{}" : `${text}}`;
}
