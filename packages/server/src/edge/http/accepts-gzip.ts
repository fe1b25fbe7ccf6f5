/** Whether an `Accept-Encoding` allows gzip: named, or by `*`, and not with `q=0`. */
export function acceptsGzip(header: string | undefined): boolean {
  if (header === undefined) return false;
  let byStar = false;
  for (const part of header.toLowerCase().split(",")) {
    const [name = "", ...parameters] = part.split(";").map((text) => text.trim());
    const isAllowed = !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
    if (name === "gzip" || name === "x-gzip") return isAllowed;
    if (name === "*") byStar = isAllowed;
  }
  return byStar;
}
