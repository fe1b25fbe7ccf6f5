import { useSyncExternalStore } from "react";

/** The open issue, and a filter as text. Both are in the address: a link shows others the same, and Back works. */
export type Place = { issueId: string; query: string };
export const addressOf = ({ issueId, query }: Place) => `#/${issueId}${query && `?${query}`}`;

export function go(to: Place, how: "pushState" | "replaceState" = "pushState") {
  history[how](null, "", addressOf(to));
  dispatchEvent(new HashChangeEvent("hashchange")); // The browser sends none for these two.
}

export function usePlace(): Place {
  const [issueId = "", query = ""] = useSyncExternalStore(onMove, () => location.hash.slice("#/".length)).split("?");
  return { issueId, query };
}

function onMove(listener: () => void) {
  addEventListener("hashchange", listener);
  return () => removeEventListener("hashchange", listener);
}
