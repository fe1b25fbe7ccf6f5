/** Types that callers fill in. What the server sends is described by the wire, which has no undefined. */
const OPTIONS = /^(?:interface|type) (\w*(?:Options|Config|Props|Scope)|Query)\b/;

/** The options in a report that may be left out and do not accept undefined, as `Type.option`. */
export function strictOptions(report: string): string[] {
  const found: string[] = [];
  let type: string | undefined;
  let open: string | undefined;
  for (const line of report.split("\n")) {
    if (/^\S/.test(line)) type = OPTIONS.exec(line)?.[1];
    if (type === undefined) continue;
    // Four spaces: an option of the type itself. One of several lines ends at the same depth.
    const name = /^ {4}(?:readonly )?(\w+)\?[:(]/.exec(line)?.[1] ?? (/^ {4}[})]/.test(line) ? open : undefined);
    if (name === undefined) continue;
    open = line.endsWith(";") ? undefined : name;
    if (open === undefined && !line.endsWith("undefined;")) found.push(`${type}.${name}`);
  }
  return found;
}
