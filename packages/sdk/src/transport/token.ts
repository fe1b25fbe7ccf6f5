import isNetworkError from "is-network-error";
import type { Reply } from "../core/queue/outcome.ts";
import { type Clock, type TokenSource, TokenUnreachable } from "../engine/ports.ts";

/** Caches the app's token, and calls `getToken` once however many requests need it. */
export function tokenSource(getToken: () => string | Promise<string>, clock: Clock): TokenSource {
  let held: string | undefined;
  let asking: Promise<string> | undefined;

  function ask(): Promise<string> {
    asking ??= fetchToken(getToken, clock).finally(() => {
      asking = undefined;
    });
    return asking;
  }

  return {
    async current() {
      held ??= await ask();
      return held;
    },
    async next() {
      const token = await ask();
      return token === held ? undefined : token;
    },
    use(token) {
      held = token;
    },
  };
}

/** `getToken` may hang; the queue must not hang with it. */
const TOKEN_MS = 30_000;

async function fetchToken(getToken: () => string | Promise<string>, clock: Clock): Promise<string> {
  let cancelTimer = () => {};
  const late = new Promise<never>((_, reject) => {
    cancelTimer = clock.wait(TOKEN_MS, () =>
      reject(new TokenUnreachable(`getToken did not return within ${TOKEN_MS} ms.`)),
    );
  });
  try {
    const token: unknown = await Promise.race([Promise.resolve().then(getToken), late]);
    if (typeof token !== "string" || token === "") throw new Error("getToken must return a token.");
    return token;
  } catch (error) {
    throw isNetworkFailure(error) ? new TokenUnreachable(reasonOf(error), { cause: error }) : error;
  } finally {
    cancelTimer();
  }
}

/**
 * A network error of `fetch`: no response, or an aborted request. A TypeError counts only with a platform's message:
 * any other TypeError is a bug in the app, which a retry does not fix.
 */
const isNetworkFailure = (error: unknown): boolean =>
  isNetworkError(error) || /^(Abort|Timeout|Network)Error$/.test((error as Error | undefined)?.name ?? "");

/** The reply to a request for which there was no token. */
export function withoutToken(error: unknown): Reply {
  const reason = `getToken failed: ${reasonOf(error)}`;
  return error instanceof TokenUnreachable
    ? { kind: "silence", timedOut: false, reason }
    : { kind: "no-token", reason };
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
