import { looksLikeToken } from "../rules/tokens/token.ts";

/** Both spellings of every address. */
export const PREFIXES = ["", "/api"];

/** What follows the question mark. */
export const searchOf = (url: string): string => {
  const mark = url.indexOf("?");
  return mark < 0 ? "" : url.slice(mark + 1);
};

/** A token in an address ends up in logs and histories: refused, whatever the parameter is called. */
export function hasToken(search: string): boolean {
  if (!/sk_|rk_|ek_/.test(search) && !search.includes("%")) return false;
  return [...new URLSearchParams(search)].some(([name, value]) => looksLikeToken(value) || looksLikeToken(name));
}
