import { useContext, useEffect, useMemo, useState } from "react";
import { PersonContext } from "../people/people.ts";
import { useSyncStatus } from "../sync.ts";
import { type Entry, type Moment, momentsOf } from "./history.ts";
import { readHistory } from "./read-history.ts";

export interface History {
  readonly moments: readonly Moment[];
  /** All of it has been read, up to a moment ago. */
  readonly isWhole: boolean;
  /** Why it cannot be read now; empty when it can. */
  readonly trouble: string;
}

const AGAIN_MS = 3_000;
/** While others write without a pause, what is new is read a few times a second, not for each of their changes. */
const NEWS_MS = 300;

/** Everything that happened to a deck, and what happens while one looks. */
export function useHistory(deckId: string): History {
  const person = useContext(PersonContext);
  const isOnline = useSyncStatus(({ name }) => name === "online");
  const [heard, setHeard] = useState<{ entries: readonly Entry[]; cursor: string; isWhole: boolean }>(NOTHING);
  const isBehind = useSyncStatus(({ syncId }) => !heard.isWhole || Number(heard.cursor) < syncId);
  const [trouble, setTrouble] = useState("");
  const [attempt, setAttempt] = useState(0);
  const { cursor, isWhole } = heard;

  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt asks the same again
  useEffect(() => {
    if (!isOnline || !isBehind) return;
    const gone = new AbortController();
    const read = async () => {
      try {
        const page = await readHistory(person, deckId, cursor, gone.signal);
        if (gone.signal.aborted) return;
        setTrouble("");
        setHeard(({ entries }) => ({
          // An empty page is no news: then nothing need be worked out again.
          entries: page.entries.length === 0 ? entries : [...entries, ...page.entries],
          cursor: page.cursor,
          isWhole: !page.hasMore,
        }));
      } catch (error) {
        if (gone.signal.aborted) return;
        setTrouble(error instanceof Error ? error.message : String(error));
        timer = setTimeout(() => setAttempt((n) => n + 1), AGAIN_MS);
      }
    };
    let timer = setTimeout(() => void read(), isWhole ? NEWS_MS : 0);
    return () => {
      clearTimeout(timer);
      gone.abort();
    };
  }, [person, deckId, cursor, isWhole, isOnline, isBehind, attempt]);

  const moments = useMemo(() => momentsOf(heard.entries), [heard.entries]);
  return { moments, isWhole, trouble: isOnline || isWhole ? trouble : AWAY };
}

const NOTHING = { entries: [], cursor: "0", isWhole: false } as const;
const AWAY = "What happened is read from the server, and there is no connection now.";
