import type { SeededRandom } from "../support/seeded-random.ts";
import type { Operation } from "../support/writers.ts";
import { SHARED_PAPERS } from "./papers-sql.ts";
import { SHARED } from "./tables-sql.ts";

/** A client's commit with large values is due so often, over all of them together. */
export const LARGE_COMMIT_MS = 2_000;

/** A record of a client has at most 1 MiB of JSON. */
const LARGE = { least: 600_000, most: 1_000_000 };
const TOO_LARGE = 1_100_000;
/** Papers of its own that a client leaves. */
const MOST_OWN = 3;

/** Commits of papers: new ones up to the limit, and changes of shared ones, which may be too large for that, or unreadable. */
export function createLargeCommits(chance: SeededRandom): (name: string) => readonly Operation[] {
  const own: string[] = [];
  const body = () => text(chance, LARGE.least + chance.below(LARGE.most - LARGE.least));
  const made = (id: string, mark: string): Operation => {
    const deckId = chance.percent(50) ? null : `deck-${chance.below(SHARED.decks)}`;
    return { action: "create", model: "paper", id, data: { deckId, mark, body: body() } };
  };
  return (mark) => {
    const id = `paper-${chance.below(SHARED_PAPERS)}`;
    const shared = (data: object): Operation[] => [{ action: "update", model: "paper", id, data: { mark, ...data } }];
    switch (chance.weighed({ made: 30, ended: 15, written: 15, smaller: 10, touched: 15, gone: 10, tooLarge: 5 })) {
      case "made": {
        const ids = Array.from({ length: 1 + chance.below(3) }, (_, n) => `${mark}-${n}`);
        own.push(...ids);
        const gone = own.splice(0, own.length - MOST_OWN);
        return [...ids.map((one) => made(one, mark)), ...gone.map(deleted)];
      }
      case "ended":
        return [deleted(own.shift() ?? id)];
      case "written":
        return shared({ body: body(), doc: null });
      case "smaller":
        return shared({ body: "small", doc: null });
      case "touched":
        return shared({});
      case "gone":
        return [deleted(id)];
      case "tooLarge":
        return [{ action: "create", model: "paper", id: mark, data: { mark, body: text(chance, TOO_LARGE) } }];
    }
  };
}

const deleted = (id: string): Operation => ({ action: "delete", model: "paper", id });

/** A text of so many letters that begins with others each time. */
const text = (chance: SeededRandom, letters: number): string =>
  `${chance.roll()} `.repeat(Math.ceil(letters / 3)).slice(0, letters);
