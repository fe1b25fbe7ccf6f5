/** A database may send what moves a terminal's cursor, or turns the direction of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that are replaced
const UNSHOWN = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\u200e\u200f\ufeff]/g;

/** An error of Postgres or the network, without the stack. */
export function sentence(error: unknown): string {
  const { message = "", code } = error as { message?: string; code?: string };
  const line = (message || String(code ?? "unknown error")).split("\n")[0]?.slice(0, 300) ?? "";
  const text = line.replace(UNSHOWN, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
