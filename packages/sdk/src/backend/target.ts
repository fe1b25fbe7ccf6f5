import { localError } from "../errors.ts";
import type { Target } from "./call.ts";

/** The greatest delay of a timer: a longer one would end at once. */
const TIMEOUT_MAX_MS = 2 ** 31 - 1;

/** Checks the options. No message repeats the key or the address, which may contain a password. */
export function targetOf(options: {
  readonly url: string;
  readonly key: string | undefined;
  readonly timeoutMs: number;
  readonly fetch: typeof globalThis.fetch | undefined;
}): Target {
  const { timeoutMs, fetch } = options;
  // A file of settings may end the key's line with more than a line break.
  const key = String(options.key ?? "").trim();
  if (!/^sk_(live|test)_[\x21-\x7e]+$/.test(key))
    throw localError(
      "invalid_options",
      "key must be the secret key of your organization, sk_live_… or sk_test_… (HOLDFAST_SECRET_KEY).",
    );
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > TIMEOUT_MAX_MS)
    throw localError(
      "invalid_options",
      `timeoutMs must be a whole number from 1 to ${TIMEOUT_MAX_MS} (got ${String(timeoutMs)}).`,
    );
  return { url: addressOf(options.url), key, timeoutMs, fetch };
}

/** Without `/api` and slashes at its end. */
function addressOf(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isAddress =
    url &&
    ["http:", "https:"].includes(url.protocol) &&
    [url.username, url.password, url.search, url.hash].every((part) => part === "");
  if (isAddress) return `${url.origin}${url.pathname}`.replace(/(\/api)?\/*$/, "");
  throw localError(
    "invalid_options",
    "url must be the server's address, http://… or https://…, without a user, a query or a fragment.",
  );
}
