import { useSyncStatus } from "../sync.ts";

/** What stands in the place of a deck while there is none. */
export function NoDeck() {
  const { name, syncId, reason } = useSyncStatus(({ name, syncId, reason }) => ({ name, syncId, reason }));
  if (name === "starting" || (name === "connecting" && reason === undefined)) return null;
  if (name !== "online" && syncId === 0) {
    return (
      <p className="empty">Nothing has been read yet. Decks will be here when this window has been online once.</p>
    );
  }
  return (
    <p className="empty">There is no deck yet. Drop a Markdown file on this page, and an agent makes a deck of it.</p>
  );
}
