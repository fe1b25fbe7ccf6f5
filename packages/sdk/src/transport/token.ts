import isNetworkError from "is-network-error";
import type { Reply } from "../core/queue/outcome.ts";
import { reasonOf } from "../core/reason-of.ts";
import { type Clock, type TokenSource, TokenUnreachable } from "../engine/ports.ts";

/** Caches the app's token, and calls `getToken` once however many requests need it. */
export function tokenSource(getToken: () => string | Promise<string>, clock: Clock): TokenSource {
  let held: string | undefined;
  let asking: Promise<string> | undefined;
  const end = new AbortController();

  function ask(): Promise<string> {
    asking ??= fetchToken(getToken, clock, end.signal).finally(() => {
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
    close: () => end.abort(),
  };
}

/** Printable ASCII, so that a header can carry it. Servers refuse headers of 16 KiB and more. */
const TOKEN = /^[ -~]{1,8192}$/;

/** What was returned instead, without a part of it, because it may be a secret. */
function kindOf(given: unknown): string {
  if (typeof given !== "string") return given === null ? "null" : typeof given;
  if (given.trim() === "") return "an empty text";
  return given.length > 8192 ? "a text that is too long" : "a text that is no token";
}

/** `getToken` may hang; the queue must not hang with it. */
const TOKEN_MS = 30_000;
const LATE = Symbol();

async function fetchToken(getToken: () => string | Promise<string>, clock: Clock, end: AbortSignal): Promise<string> {
  if (end.aborted) throw new TokenUnreachable("The client is closed.");
  let cancelTimer = () => {};
  const late = new Promise<typeof LATE>((resolve) => {
    const giveUp = () => resolve(LATE);
    const off = clock.wait(TOKEN_MS, giveUp);
    end.addEventListener("abort", giveUp);
    cancelTimer = () => {
      off();
      end.removeEventListener("abort", giveUp);
    };
  });
  let given: unknown;
  try {
    given = await Promise.race([Promise.resolve().then(getToken), late]);
  } catch (error) {
    const reason = `getToken failed: ${reasonOf(error)}`;
    throw isNetworkFailure(error)
      ? new TokenUnreachable(reason, { cause: error })
      : new Error(reason, { cause: error });
  } finally {
    cancelTimer();
  }
  if (end.aborted) throw new TokenUnreachable("The client is closed.");
  if (given === LATE) throw new TokenUnreachable(`getToken did not return within ${TOKEN_MS} ms.`);
  const token = typeof given === "string" ? given.trim() : "";
  // What a login page or a portal answers instead. No request could carry it, so no server would ever refuse it.
  if (!TOKEN.test(token)) throw new Error(`getToken must return a token (got ${kindOf(given)}).`);
  return token;
}

/**
 * A network error of `fetch`: no response, or an aborted request. A TypeError counts only with a platform's message:
 * any other TypeError is a bug in the app, which a retry does not fix.
 */
function isNetworkFailure(error: unknown): boolean {
  try {
    return isNetworkError(error) || /^(Abort|Timeout|Network)Error$/.test((error as Error | undefined)?.name ?? "");
  } catch {
    // It cannot even be read.
    return false;
  }
}

/** The reply to a request for which there was no token. */
export function withoutToken(error: unknown): Reply {
  const reason = reasonOf(error);
  return error instanceof TokenUnreachable
    ? { kind: "silence", timedOut: false, reason }
    : { kind: "no-token", reason };
}
