import { useCallback, useEffect, useSyncExternalStore } from "react";
import type { Deck } from "../schema.ts";

/** The deck that is shown: the one in the address (`?deck=…`), or else the first there is. */
export function useDeckId(decks: readonly Deck[]): readonly [deckId: string | undefined, choose: (id: string) => void] {
  const asked = useSyncExternalStore(listen, deckInAddress);
  const first = decks[0]?.id;
  useEffect(() => {
    // Kept in the address: another deck that comes first in the list must not push this one off the page.
    if (!asked && first) history.replaceState(null, "", addressOf({ deck: first }));
  }, [asked, first]);
  const choose = useCallback((id: string) => {
    history.pushState(null, "", addressOf({ deck: id }));
    dispatchEvent(new PopStateEvent("popstate"));
  }, []);
  return [asked ?? first, choose];
}

/** This page's address with other values in it. */
export function addressOf(values: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(values)) query.set(name, value);
  return `?${query}`;
}

const deckInAddress = () => new URLSearchParams(location.search).get("deck") ?? undefined;

function listen(changed: () => void) {
  addEventListener("popstate", changed);
  return () => removeEventListener("popstate", changed);
}
