import { isSyncError, type SyncClient } from "@holdfast/sdk/node";
import type { Slide, schema } from "./schema.ts";

type Client = SyncClient<typeof schema>;

export interface Job {
  /** What a slide's notes should be. Takes its time. */
  readonly think: (slide: Slide, signal: AbortSignal) => Promise<string>;
  /** Aborts when the process is told to end. */
  readonly stop: AbortSignal;
  readonly say: (line: string) => void;
}

/** How long the agent leaves a slide alone that another participant had claimed, or that could not be written. */
const LATER_MS = 5_000;

/** Until it is told to stop: every slide without notes gets some. Several of these agents share the work. */
export async function work(client: Client, given: Job): Promise<void> {
  // One signal may stop many agents of a process. Each listens on its own, so that Node does not warn of a leak.
  const job = { ...given, stop: AbortSignal.any([given.stop]) };
  await giveBack(client).catch((error: unknown) => job.say(`claims from before: ${explain(error)}`));
  const notBefore = new Map<string, number>();
  const claims = watchClaims(client);
  while (!job.stop.aborted) {
    answerConflicts(client, job);
    const isDue = ({ id }: Slide) => (notBefore.get(id) ?? 0) <= Date.now();
    const open = client.models.slide.list().filter((each) => !each.notes && isDue(each));
    claims.look(open.map(({ id }) => id));
    // At random: agents that all took the first one would be refused all but once.
    const slide = anyOf(open.filter(({ id }) => claims.isFree(id)));
    if (!slide) {
      await news(client, job.stop);
      continue;
    }
    notBefore.set(slide.id, Date.now() + LATER_MS);
    await workOn(client, slide, job).catch((error: unknown) => {
      if (!job.stop.aborted) job.say(`${slide.id}: ${explain(error)}`);
    });
  }
  claims.end();
}

/**
 * A process that was killed could not release what it held. Its claims would keep the others away until their time is over,
 * so the next process with the same file gives them back. What it works on it claims anew.
 */
async function giveBack(client: Client): Promise<void> {
  const left = (await client.claims.mine()).filter(({ isOfThisStore, isInUse }) => isOfThisStore && !isInUse);
  await Promise.all(left.map((claim) => claim.release()));
}

/** So many slides are looked at: enough to find one that is free. */
const LOOKED_AT = 100;

/** Who claims the open slides, as far as the server has said. A slide of which nothing is known yet may be tried. */
function watchClaims(client: Client) {
  let looked = "";
  let off = () => {};
  return {
    look(ids: readonly string[]): void {
      const some = ids.slice(0, LOOKED_AT);
      if (some.join() === looked) return;
      looked = some.join();
      const before = off;
      off = client.claims.watch("slide", some);
      before();
    },
    isFree: (id: string): boolean => client.claims.of("slide", id).holders.every(({ isMine }) => isMine),
    end: (): void => off(),
  };
}

const anyOf = <T>(items: readonly T[]): T | undefined => items[Math.floor(Math.random() * items.length)];

async function workOn(client: Client, { id }: Slide, { think, stop, say }: Job): Promise<void> {
  // Until the end of this block, only this worker can write here. The description tells people why.
  await using lease = await client.models.slide.claim(id, { description: "Writing notes", signal: stop });
  // The decision below is based on this position. If the same fields change later, the write is held, not applied.
  const readAt = client.status().syncId;
  const slide = client.models.slide.get(id);
  if (!slide || slide.notes) return;
  const notes = await think(slide, AbortSignal.any([lease.signal, stop]));
  const write = lease.update({ notes }, { readAt });
  await write.queued; // on disk: it is sent once, even if this process dies
  await write.receipt;
  say(`${id}: notes written`);
}

/** People win: what they changed while the agent was away stays, and the slide is looked at again. */
function answerConflicts(client: Client, { say }: Job): void {
  for (const conflict of client.conflicts()) {
    say(`${conflict.id}: ${conflict.writtenBy || "another participant"} was there first`);
    conflict.takeTheirs();
  }
  // Refused for good: the slide is gone, or the token no longer covers it.
  for (const item of client.attention()) {
    say(`${item.operations[0]?.id}: given up (${[item.code, item.error.param].filter(Boolean).join(" at ")})`);
    item.discard();
  }
}

/** Resolves when the log has brought something, or something became of a write; at the latest when it is time to look again. */
function news(client: Client, stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      off();
      clearTimeout(timer);
      stop.removeEventListener("abort", done);
      resolve();
    };
    const off = client.subscribe(done);
    const timer = setTimeout(done, LATER_MS);
    stop.addEventListener("abort", done);
  });
}

const explain = (error: unknown): string => {
  if (isSyncError(error) && error.code === "claim_conflict") return "another participant holds it; later";
  return error instanceof Error ? error.message : String(error);
};
