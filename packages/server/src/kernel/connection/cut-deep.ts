/** Deeper than a person or program writes it on purpose, and not deep enough to exhaust our stack. */
const DEEPEST = 500;

/** JSON with null for what is nested deeper than `DEEPEST` levels: Postgres stores values of any depth. */
export function cutDeep(text: string): string {
  if (text.length <= 2 * DEEPEST) return text;
  let cut = "";
  let from = 0;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (char === '"') i = endOfText(text, i);
    else if (char === "[" || char === "{") {
      depth += 1;
      if (depth === DEEPEST + 1) cut += `${text.slice(from, i)}null`;
    } else if (char === "]" || char === "}") {
      if (depth === DEEPEST + 1) from = i + 1;
      depth -= 1;
    }
  }
  return cut + text.slice(from);
}

/** The place of the quote that ends the text which begins here. */
export function endOfText(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); ; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text[end - 1 - slashes] === "\\") slashes += 1;
    if (slashes % 2 === 0) return end;
  }
}
