/** JSON with sorted keys and without whitespace: two bodies that mean the same give the same text. */
export function canonical(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  const record = value as Record<string, unknown>;
  let text = "";
  for (const key of Object.keys(record).sort()) {
    const item = record[key];
    if (item === undefined) continue;
    text += `${text === "" ? "{" : ","}${JSON.stringify(key)}:${canonical(item)}`;
  }
  return text === "" ? "{}" : `${text}}`;
}
