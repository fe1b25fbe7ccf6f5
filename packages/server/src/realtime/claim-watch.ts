import { limits } from "@holdfast/sdk/protocol";
import { maySee } from "../flows/claims.ts";
import type { FollowClaims } from "../flows/follow-claims.ts";
import { recordKey } from "../rules/commit-request.ts";
import { type Principal, participantName } from "../rules/participant.ts";
import { isRecordId } from "../rules/record-id.ts";
import { type ClaimNews, type LineNews, lineFrame } from "./claim-news.ts";

/** No change has this number: the reader was told nothing yet. */
const UNTOLD = -1;

/** What one session hears of claims: its participant's own, and those of the records that it watches. */
export interface ClaimWatch {
  begin(principal: Principal): Promise<void>;
  /** Replaces what is watched of a model. Each that is new, or was out of sight, is told at once, free ones too. */
  watch(principal: Principal, model: string, ids: readonly string[]): Promise<"watching" | "too many">;
  end(): void;
}

interface Watched {
  /** The last change that the reader was told of. */
  asOf: number;
  end(): void;
}

export function createClaimWatch(
  news: ClaimNews,
  follow: FollowClaims,
  tell: (text: string) => void,
  /** Who the session is now: a fresh token may carry another scope. */
  reader: () => Principal | undefined,
): ClaimWatch {
  const byModel = new Map<string, Map<string, Watched>>();
  let endHearing: (() => void) | undefined;
  /** Counts beginnings and ends: what was asked for before one is of no use after it. */
  let term = 0;

  function show(watched: Watched, model: string, { line, text }: LineNews): void {
    const who = reader();
    if (!who || line.asOf <= watched.asOf || !maySee(who, model, line)) return;
    watched.asOf = line.asOf;
    tell(text);
  }

  return {
    async begin({ world, participantKind, participantId }) {
      const own = ++term;
      const end = await news.hear(world, participantName(participantKind, participantId), tell);
      if (own === term) endHearing = end;
      else end();
    },
    async watch({ world }, model, ids) {
      const key = model.toLowerCase();
      const before = byModel.get(key) ?? new Map<string, Watched>();
      const wanted = new Set(ids.filter(isRecordId));
      const elsewhere = [...byModel.values()].reduce((sum, { size }) => sum + size, 0) - before.size;
      if (elsewhere + wanted.size > limits.watchedPerSession) return "too many";
      for (const [id, watched] of before) if (!wanted.has(id)) watched.end();
      const added = [...wanted].filter((id) => !before.has(id));
      const kept = new Map([...before].filter(([id]) => wanted.has(id)));
      if (wanted.size > 0) byModel.set(key, kept);
      else byModel.delete(key);
      const own = term;
      for (const id of added) {
        const watched: Watched = { asOf: UNTOLD, end: () => {} };
        const end = await news.watch(world, recordKey(key, id), (told) => show(watched, key, told));
        if (own !== term) {
          end();
          return "watching";
        }
        watched.end = end;
        kept.set(id, watched);
      }
      const untold = [...kept].filter(([, { asOf }]) => asOf === UNTOLD);
      if (untold.length === 0) return "watching";
      const lines = await follow.lines(untold.map(([id]) => ({ world, model: key, id })));
      const nameOf = await follow.modelNames(world);
      if (own !== term) return "watching";
      for (const [i, [id, watched]] of untold.entries()) {
        const line = lines[i];
        if (line) show(watched, key, { line, text: lineFrame(nameOf(key), id, line) });
      }
      return "watching";
    },
    end() {
      term += 1;
      endHearing?.();
      endHearing = undefined;
      for (const kept of byModel.values()) for (const watched of kept.values()) watched.end();
      byModel.clear();
    },
  };
}
