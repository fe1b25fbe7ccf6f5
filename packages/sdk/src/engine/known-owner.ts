import type { ClientState } from "../core/state.ts";
import { askOwnerTwice, type NamedOwner, type TokenOwner } from "./ask-owner.ts";
import type { Engine } from "./engine.ts";
import type { Clock, Server, Stored, TokenSource } from "./ports.ts";

/** A server that has not answered by then counts as one that cannot be asked. */
const ANSWER_MS = 3_000;
const AGAIN_MS = 5_000;

export interface KnownOwnerDeps {
  readonly engine: Engine;
  readonly server: Server;
  readonly token: TokenSource;
  readonly clock: Clock;
  /** The client is closing. */
  readonly closing: AbortSignal;
  /** The store with the plain name, as it was read. */
  readonly plain: Promise<{ readonly stored: Stored }>;
}

/**
 * Whose token this tab has, before it opens a store. `unknown`: the server cannot be asked, and the plain store never
 * had another owner, so the tab takes it for its own. `closing`: the client closes before it is known.
 */
export async function knownOwner(deps: KnownOwnerDeps): Promise<NamedOwner | "unknown" | "closing"> {
  const { engine, closing } = deps;
  for (;;) {
    const asked = canAsk(engine.store.getState()) && !closing.aborted ? await answerInTime(deps) : undefined;
    if (asked?.kind === "named") return asked;
    if (!(await deps.plain).stored.others) return "unknown";
    if (closing.aborted) return "closing";
    engine.dispatch({ type: "choosing", ...statusAfter(asked, engine.store.getState()) });
    await nextChance(deps);
  }
}

const canAsk = ({ network, paused }: ClientState): boolean => network && !paused;

async function answerInTime({ server, token, clock, closing }: KnownOwnerDeps): Promise<TokenOwner> {
  const request = new AbortController();
  const abort = () => request.abort();
  closing.addEventListener("abort", abort);
  let cancelTimer = () => {};
  const late = new Promise<TokenOwner>((resolve) => {
    const end = () => resolve({ kind: "silent", reason: "The server has not answered yet." });
    cancelTimer = clock.wait(ANSWER_MS, end);
    request.signal.addEventListener("abort", end);
  });
  try {
    return await Promise.race([askOwnerTwice(server, token, request.signal, clock), late]);
  } finally {
    cancelTimer();
    request.abort();
    closing.removeEventListener("abort", abort);
  }
}

function statusAfter(asked: TokenOwner | undefined, { paused }: ClientState) {
  const name = paused ? "paused" : !asked ? "offline" : asked.kind === "refused" ? "needs-auth" : "connecting";
  const why = asked && asked.kind !== "named" ? ` (${asked.reason})` : "";
  const reason = `Several owners have used this store, and the server has not named this token's owner yet${why}. Pass the owner to createClient (option owner).`;
  return { name, reason } as const;
}

/** Resolves when the network may have come back, after a while, or when the client closes. */
function nextChance({ engine, clock, closing }: KnownOwnerDeps): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      cancelTimer();
      off();
      closing.removeEventListener("abort", done);
      resolve();
    };
    const cancelTimer = clock.wait(AGAIN_MS, done);
    const off = engine.listen(({ type }) => {
      if (type === "network" || type === "woke" || type === "resumed") done();
    });
    closing.addEventListener("abort", done);
  });
}
