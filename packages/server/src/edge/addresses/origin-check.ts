const LOOPBACK = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/;

/** The origins of pages that may call: the configured ones, else only pages of this machine. */
export const originCheck = (allowed: readonly string[] | undefined) => {
  for (const origin of allowed ?? []) {
    const fault = faultOfOrigin(origin);
    if (fault) throw new TypeError(`"${origin}" cannot be an allowed origin: ${fault}.`);
  }
  const named = new Set(allowed);
  const patterns = allowed?.filter((one) => one.includes("*")).map(patternOf) ?? [LOOPBACK];
  return (origin: string): boolean => named.has(origin) || patterns.some((pattern) => pattern.test(origin));
};

/** `*` stands for exactly one label: no dot, no port. */
const patternOf = (origin: string): RegExp =>
  new RegExp(`^${origin.replace(/[^\w*]/g, "\\$&").replace("*", "[A-Za-z0-9_-]+")}$`);

/** Any scheme of an app or of an extension, with the host that it gives its pages. */
const OF_APP = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@\\*]+$/;
/** An extension whose id differs in every installation. */
const ANY_HOST = /^[a-z][a-z0-9+.-]*-extension:\/\/\*$/;
/** They have an origin, but no page has it. */
const NO_PAGES = /^(?:wss?|ftp|data|blob|javascript|file):/;

/** Why a text is no origin that a page can send. Undefined: it is one. */
export function faultOfOrigin(text: string): string | undefined {
  if (text === "*") return "it would allow every page";
  // What pages send that have no origin to compare: of a file, or in a sandbox.
  if (text === "null" || text === "file://" || ANY_HOST.test(text)) return undefined;
  const origin = text.replace(/^(https?:\/\/)\*\./, "$1any.");
  const isOrigin = /^https?:/.test(origin)
    ? URL.canParse(origin) && new URL(origin).origin === origin && !origin.includes("*")
    : OF_APP.test(origin) && !NO_PAGES.test(origin);
  return isOrigin ? undefined : "no page has it as its origin";
}
