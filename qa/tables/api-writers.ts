import type { KillableServer } from "../support/killable-server.ts";
import { SeededRandom } from "../support/seeded-random.ts";
import { type Operation, startWriters, type Writers } from "../support/writers.ts";
import { createLargeCommits, LARGE_COMMIT_MS } from "./large-commits.ts";
import { createTurns } from "./large-turns.ts";
import { SHARED } from "./tables-sql.ts";

export interface ApiWriterOptions {
  readonly servers: readonly KillableServer[];
  readonly key: string;
  readonly writers: number;
  readonly seed: number;
}

/**
 * In turn all writers write notes, which the server writes many at once, and slides and decks, one commit after the other.
 */
const TURN_MS = 400;
const REST_MS = 30;
/** A unique title that is taken, a deck that is not there, a deadlock with SQL that lasts. */
const EXPECTED = new Set(["source_refused", "not_unique"]);

export function startApiWriters({ servers, key, writers, seed }: ApiWriterOptions): Writers {
  const chances = Array.from({ length: writers }, (_, writer) => SeededRandom.of(seed, writer));
  const largeCommits = chances.map(createLargeCommits);
  const turns = createTurns({ large: LARGE_COMMIT_MS }, performance.now());
  return startWriters({
    servers,
    keys: chances.map(() => key),
    restMs: REST_MS,
    changesMore: true,
    // A deletion works, however large the record is.
    mayBeRefused: (code, operations) =>
      EXPECTED.has(code) || (code === "record_too_large" && operations.some(({ action }) => action !== "delete")),
    operationsOf({ writer, n, name }) {
      const chance = chances[writer] as SeededRandom;
      if (turns.take(performance.now())) return largeCommits[writer]?.(name) ?? [];
      const isNotes = Math.floor(performance.now() / TURN_MS) % 2 === 0;
      return isNotes ? notes(chance, { writer, n, name }) : slides(chance, { writer, n, name });
    },
  });
}

interface Write {
  readonly writer: number;
  readonly n: number;
  readonly name: string;
}

function notes(chance: SeededRandom, { writer, n, name }: Write): Operation[] {
  const made: Operation = { action: "create", model: "note", id: name, data: { mark: name } };
  const shared = `note-${chance.below(SHARED.notes)}`;
  const changed: Operation = { action: "update", model: "note", id: shared, data: { mark: name } };
  if (chance.percent(15)) return [made, { action: "delete", model: "note", id: `w${writer}-${n - 5}` }];
  return chance.percent(40) ? [made] : [changed];
}

function slides(chance: SeededRandom, { writer, n, name }: Write): Operation[] {
  const deckId = chance.percent(4) ? "no deck" : `deck-${chance.below(SHARED.decks)}`;
  const title = chance.percent(15) ? "A title that is taken" : name;
  const made: Operation = { action: "create", model: "slide", id: name, data: { deckId, title, mark: name } };
  const shared = `slide-${chance.below(SHARED.slides)}`;
  const changed: Operation = { action: "update", model: "slide", id: shared, data: { mark: name } };
  const deck = `deck-${chance.below(SHARED.decks)}`;
  switch (chance.weighed({ made: 20, changed: 40, both: 15, gone: 10, deck: 10, deckGone: 2, deckMade: 3 })) {
    case "made":
      return [made];
    case "changed":
      return [changed];
    case "both":
      return [made, changed];
    case "gone":
      return [{ action: "delete", model: "slide", id: `w${writer}-${n - 3}` }];
    case "deck":
      return [{ action: "update", model: "deck", id: deck, data: { mark: name, title: name } }];
    case "deckGone":
      return [{ action: "delete", model: "deck", id: deck }];
    case "deckMade":
      return [{ action: "create", model: "deck", id: `deck-of-${name}`, data: { mark: name } }];
  }
}
