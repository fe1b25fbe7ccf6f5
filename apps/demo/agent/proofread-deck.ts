import { isSyncError, type Lease, type SyncClient } from "@holdfast/sdk/node";
import type { FieldChange, ProofreadEvent } from "../src/agent/proofread-event.ts";
import type { BoardSchema, Slide } from "../src/schema.ts";
import { spell } from "./spelling.ts";
import { polish } from "./typography.ts";

export interface ProofreadOptions {
  /**
   * How long each slide with mistakes takes, so that people can watch and step in; one without takes a third of it. The
   * last of them counts for all further slides.
   */
  readonly pacesMs: readonly number[];
  /** How long it waits, at the end, for a slide that a person is still editing. */
  readonly patienceMs: number;
  /** Who has sent it, as `user:ada`. */
  readonly onBehalfOf?: string | undefined;
  print(line: string): void;
  report(event: ProofreadEvent): void;
}

export interface Proofread {
  readonly mended: number;
  /** Slides that a person took over, or edited for too long. */
  readonly left: number;
}

/**
 * Proofreads a deck slide by slide, each under a claim: only the agent writes there meanwhile, and all people see that it
 * does. It skips a slide that a person edits, and queues for it at the end. It leaves a slide that a person takes over.
 */
export async function proofreadDeck(
  client: SyncClient<BoardSchema>,
  deckId: string,
  { pacesMs, patienceMs, onBehalfOf, print, report }: ProofreadOptions,
): Promise<Proofread> {
  // All that it changes this time can be found, and taken back, by this name.
  const worksFor = { run: `proofread ${deckId} ${new Date().toISOString()}`, onBehalfOf };
  const room = client.presence(`deck:${deckId}`);
  const skipped: string[] = [];
  let looked = 0;
  let mended = 0;
  let left = 0;

  const leave = (slide: string) => {
    left += 1;
    report({ type: "left", slide });
  };

  async function visit(id: string, waits: boolean): Promise<void> {
    const name = nameOf(client.models.slide.get(id));
    let lease: Lease<BoardSchema, "slide">;
    try {
      lease = await client.models.slide.claim(id, {
        action: "proofread",
        description: "correcting mistakes",
        ttl: "20s",
        queue: waits,
        ...worksFor,
        ...(waits && { signal: AbortSignal.timeout(patienceMs) }),
      });
    } catch (error) {
      if (!waits && isSyncError(error) && error.code === "claim_conflict") {
        print(`${name}: someone is editing it, trying later`);
        skipped.push(id);
        return;
      }
      if (isSyncError(error) && error.code === "record_not_found") return;
      if (!waits) throw error;
      print(`${name}: skipped, because someone is editing it`);
      leave(id);
      return;
    }
    try {
      room.set({ slide: id });
      report({ type: "at", slide: id });
      const paceMs = pacesMs[Math.min(looked, pacesMs.length - 1)] ?? 0;
      looked += 1;
      await pause(changesOf(client.models.slide.get(id)).length > 0 ? paceMs : paceMs / 3, lease.signal);
      const changes = changesOf(client.models.slide.get(id));
      if (lease.signal.aborted) {
        print(`${name}: taken over`);
        leave(id);
      } else if (changes.length > 0) {
        const patch = Object.fromEntries(changes.map(({ field, after }) => [field, after]));
        await lease.update(patch, { ...worksFor, reason: "Spelling and punctuation" }).receipt;
        print(`${name}: mended`);
        mended += 1;
        report({ type: "changed", slide: id, fields: changes });
        // The changed text is to be read before the next slide is looked at.
        await pause(paceMs / 2, lease.signal);
      }
    } finally {
      await lease.release();
    }
  }

  try {
    for (const { id } of client.models.slide.list({ where: { deckId }, orderBy: "order" })) await visit(id, false);
    // Waits in the claim queue for the slides that others were editing.
    for (const id of skipped) await visit(id, true);
  } finally {
    room.leave();
  }
  report({ type: "done" });
  return { mended, left };
}

const nameOf = (slide: Slide | undefined): string => `“${slide?.title?.trim() || "Untitled"}”`;

/** What is to be changed in a slide; empty: it has no mistakes. */
function changesOf(slide: Slide | undefined): readonly FieldChange[] {
  return (["title", "notes"] as const).flatMap((field) => {
    const before = slide?.[field] ?? "";
    const after = spell(polish(before));
    return before === after ? [] : [{ field, before, after }];
  });
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
