import { inOrder } from "../../core/queue/queue.ts";
import { askServer } from "../../engine/ask-server.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Frames } from "../../engine/performer.ts";
import type { Clock, Server, Stream } from "../../engine/ports.ts";
import { notifyApp, type SyncError } from "../../errors.ts";
import type { Proposal } from "../../protocol/changes/proposal.ts";
import type { List } from "../../protocol/lists/list.ts";
import type { ProposalQuery } from "./proposals-api.ts";

/** What is read of proposals, and which of them are decided here. */
export interface ProposalDeps {
  readonly engine: Engine;
  readonly server: Server;
  readonly stream: Stream;
  readonly frames: Frames;
  readonly clock: Clock;
  /** Fires when the client closes. */
  readonly closing: AbortSignal;
}

/** Proposals as the app follows them. Nothing is asked before the first call. */
export interface LiveProposals {
  list(query: ProposalQuery): Promise<readonly Proposal[]>;
  get(id: string): Promise<Proposal>;
  subscribe(query: ProposalQuery, listener: (proposals: readonly Proposal[]) => void): () => void;
  withdraw(id: string, reason: string | undefined): Promise<Proposal>;
}

/** Without a stream of its own a tab is told nothing. */
const READ_EVERY_MS = 15_000;
/** After a failed attempt. */
const AGAIN_MS = 3_000;

export function liveProposals(deps: ProposalDeps): LiveProposals {
  const { engine, stream, frames, closing } = deps;
  const followed = new Set<() => void>();
  const ask = (name: Parameters<typeof askServer>[1], options: Parameters<typeof askServer>[2]) =>
    askServer(deps, name, options, closing);

  async function list(query: ProposalQuery): Promise<readonly Proposal[]> {
    const { limit = 100, ...rest } = query;
    const asked = Object.entries({ ...rest, limit: String(limit) }).filter(([, value]) => value !== undefined);
    const page = (await ask("listProposals", { query: Object.fromEntries(asked) as Record<string, string> })) as Page;
    return page.data;
  }

  const isLive = () => engine.store.getState().stream.phase === "live";
  const watch = () => {
    if (followed.size > 0 && isLive()) stream.send({ frame: "proposals" });
  };
  const readAll = () => {
    for (const read of followed) read();
  };
  let wasLive = false;
  const onHappening = () => {
    const live = isLive();
    if (live && !wasLive) {
      watch();
      readAll();
    }
    wasLive = live;
  };
  let unfollow: (() => void) | undefined;
  /** While something is followed. */
  function begin(): void {
    wasLive = isLive();
    const off = [
      engine.listen(onHappening),
      frames.listen((frame) => {
        if (frame.frame === "proposals") readAll();
      }),
    ];
    // A tab that does not lead opens a stream of its own for this.
    engine.dispatch({ type: "connectionWanted" });
    unfollow = () => {
      for (const end of off) end();
    };
  }

  return {
    list,
    get: async (id) => (await ask("readProposal", { params: { id } })) as Proposal,
    withdraw: async (id, reason) =>
      (await ask("withdrawProposal", {
        params: { id },
        ...(reason !== undefined && { body: { reason } }),
      })) as Proposal,
    subscribe(query, listener) {
      const one = followProposals(deps, () => list(query), listener);
      if (followed.size === 0) begin();
      followed.add(one.read);
      watch();
      one.read();
      return () => {
        if (!followed.delete(one.read)) return;
        one.end();
        if (followed.size > 0) return;
        unfollow?.();
        unfollow = undefined;
      };
    },
  };
}

type Page = Pick<List<Proposal>, "data">;

/** Reads one list again and again, and leaves out what is decided here. */
function followProposals(
  { engine, clock, closing }: ProposalDeps,
  list: () => Promise<readonly Proposal[]>,
  listener: (proposals: readonly Proposal[]) => void,
): { read(): void; end(): void } {
  let known: readonly Proposal[] | undefined;
  let shown: string | undefined;
  let isReading = false;
  let again = false;
  let hasEnded = false;
  let cancel = () => {};

  const tell = () => {
    if (!known || hasEnded) return;
    const decided = decidedHere(engine);
    const open = known.filter(({ id }) => !decided.has(id));
    const name = JSON.stringify(open);
    if (name === shown) return;
    shown = name;
    notifyApp(listener as (proposals: unknown) => void, open);
  };

  async function read(): Promise<void> {
    if (hasEnded || closing.aborted) return;
    again = isReading;
    if (isReading) return;
    isReading = true;
    cancel();
    const failed = await list().then(
      (found) => {
        known = found;
        tell();
        return undefined;
      },
      (error: SyncError) => error,
    );
    isReading = false;
    if (hasEnded || closing.aborted) return;
    if (again) return read();
    const live = engine.store.getState().stream.phase === "live";
    if (failed && live && failed.then === "fix") return;
    if (failed || !live) cancel = clock.wait(failed ? AGAIN_MS : READ_EVERY_MS, () => void read());
  }

  const off = engine.store.subscribe((state, before) => {
    if (state.queue === before.queue) return;
    const [now, was] = [decidedHere(engine), decidedIn(before)];
    tell();
    // What was decided here is over, one way or the other.
    if ([...was].some((id) => !now.has(id))) void read();
  });
  return {
    read: () => void read(),
    end() {
      hasEnded = true;
      cancel();
      off();
    },
  };
}

type QueueOf = Parameters<Parameters<Engine["store"]["subscribe"]>[0]>[0];

const decidedHere = ({ store }: Engine): ReadonlySet<string> => decidedIn(store.getState());

/** The proposals that writes in the queue decide. */
function decidedIn({ queue }: QueueOf): ReadonlySet<string> {
  const decided = new Set<string>();
  for (const { asks } of inOrder(queue)) if (asks?.decide) decided.add(asks.decide.proposal);
  return decided;
}
