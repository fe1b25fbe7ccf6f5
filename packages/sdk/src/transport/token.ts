import type { Clock, TokenSource } from "../engine/ports.ts";

/** Keeps the token that the app gave, and asks for it once however many requests need it. */
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
    async renew() {
      const before = held;
      held = await ask();
      return { changed: held !== before };
    },
  };
}

/** The app's own request for a token may hang; the queue must not hang with it. */
const TOKEN_MS = 30_000;

async function fetchToken(getToken: () => string | Promise<string>, clock: Clock): Promise<string> {
  let calledOff = () => {};
  const late = new Promise<never>((_, reject) => {
    calledOff = clock.wait(TOKEN_MS, () => reject(new Error(`getToken gave nothing in ${TOKEN_MS} ms.`)));
  });
  try {
    const token: unknown = await Promise.race([Promise.resolve().then(getToken), late]);
    if (typeof token !== "string" || token === "") throw new Error("getToken gave no token.");
    return token;
  } finally {
    calledOff();
  }
}
