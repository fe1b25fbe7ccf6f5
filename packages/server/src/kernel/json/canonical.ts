/**
 * JSON with sorted keys and without whitespace: bodies with the same meaning give the same text. `without` omits one
 * key of the outermost object. Optimized for bodies of 100 000 values, where it is most of the request's cost.
 */
export function canonical(value: unknown, without?: string): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value !== "object" || value === null) return String(value);
  if (Array.isArray(value)) {
    let items = "";
    for (const item of value) items += items === "" ? canonical(item) : `,${canonical(item)}`;
    return `[${items}]`;
  }
  const record = value as Record<string, unknown>;
  let members = "";
  for (const key of Object.keys(record).sort()) {
    const item = record[key];
    if (item === undefined || key === without) continue;
    members += `${members === "" ? "" : ","}${JSON.stringify(key)}:${canonical(item)}`;
  }
  return `{${members}}`;
}
