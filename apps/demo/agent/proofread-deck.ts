import { isSyncError, type Lease, type SyncClient } from "@holdfast/sdk/node";
import type { BoardSchema, Slide } from "../src/schema.ts";
import { polish } from "./typography.ts";

export interface ProofreadOptions {
  /** How long each slide takes, so that people can watch and step in; the last of them counts for all further slides. */
  readonly pacesMs: readonly number[];
  /** How long it waits, at the end, for a slide that a person is still editing. */
  readonly patienceMs: number;
  say(line: string): void;
}

export interface Proofread {
  readonly mended: number;
  /** A person took over, or edited for too long. */
  readonly left: number;
}

/**
 * Goes through a deck, slide by slide, each under a claim: others cannot write there meanwhile, and see who does.
 * A slide that a person edits is skipped and claimed at the end, in the queue; one that a person takes over is theirs.
 */
export async function proofreadDeck(
  client: SyncClient<BoardSchema>,
  deckId: string,
  { pacesMs, patienceMs, say }: ProofreadOptions,
): Promise<Proofread> {
  const room = client.presence(`deck:${deckId}`);
  const skipped: string[] = [];
  let looked = 0;
  let mended = 0;
  let left = 0;

  async function visit(id: string, waits: boolean): Promise<void> {
    const name = nameOf(client.models.slide.get(id));
    let lease: Lease<BoardSchema, "slide">;
    try {
      lease = await client.models.slide.claim(id, {
        action: "proofread",
        description: "correcting quotes and dashes",
        ttl: "20s",
        queue: waits,
        ...(waits && { signal: AbortSignal.timeout(patienceMs) }),
      });
    } catch (error) {
      if (!waits && isSyncError(error) && error.code === "claim_conflict") {
        say(`${name}: someone is editing it, trying later`);
        skipped.push(id);
        return;
      }
      if (isSyncError(error) && error.code === "record_not_found") return;
      if (!waits) throw error;
      say(`${name}: skipped, because someone is editing it`);
      left += 1;
      return;
    }
    try {
      room.set({ slide: id });
      const paceMs = pacesMs[Math.min(looked, pacesMs.length - 1)] ?? 0;
      looked += 1;
      await pause(paceMs, lease.signal);
      const slide = client.models.slide.get(id);
      const patch = slide && mend(slide);
      if (lease.signal.aborted) {
        say(`${name}: taken over`);
        left += 1;
      } else if (patch) {
        await lease.update(patch).receipt;
        say(`${name}: mended`);
        mended += 1;
      }
    } finally {
      await lease.release();
    }
  }

  try {
    for (const { id } of client.models.slide.list({ where: { deckId }, orderBy: "order" })) await visit(id, false);
    // Politely, in the line, for what others were editing.
    for (const id of skipped) await visit(id, true);
  } finally {
    room.leave();
  }
  return { mended, left };
}

const nameOf = (slide: Slide | undefined): string => `“${slide?.title?.trim() || "Untitled"}”`;

/** The fields that change; undefined: none does. */
function mend({ title, notes }: Slide): { title?: string; notes?: string } | undefined {
  const patch = {
    ...(title !== undefined && polish(title) !== title && { title: polish(title) }),
    ...(notes !== undefined && polish(notes) !== notes && { notes: polish(notes) }),
  };
  return Object.keys(patch).length > 0 ? patch : undefined;
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
