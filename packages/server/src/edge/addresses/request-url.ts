import { looksLikeToken } from "../../kernel/tokens/rules/token.ts";

/** Both prefixes of every path. */
export const PREFIXES = ["", "/api"];

/** The query string after the question mark. */
export const searchOf = (url: string): string => {
  const mark = url.indexOf("?");
  return mark < 0 ? "" : url.slice(mark + 1);
};

/**
 * Whether a query contains a token, under any parameter name. Such a request is refused, because URLs end up in logs
 * and histories.
 */
export function hasToken(search: string): boolean {
  if (!/sk_|rk_|ek_/.test(search) && !search.includes("%")) return false;
  return [...new URLSearchParams(search)].some(([name, value]) => looksLikeToken(value) || looksLikeToken(name));
}
