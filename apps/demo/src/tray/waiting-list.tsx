import { useNow } from "../connection/use-now.ts";
import { useClient, usePending, useSyncStatus } from "../sync.ts";
import { waitingWords } from "./waiting-words.ts";

const SHOWN = 5;
const SOON_MS = 1_000;

/** The queue: what was written here and is not with the others yet. On a good line it is empty before it could be read. */
export function WaitingList() {
  const isOnline = useSyncStatus(({ name }) => name === "online");
  const oldest = useSyncStatus(({ oldestPendingAt }) => oldestPendingAt);
  const now = useNow(oldest !== undefined);
  if (oldest === undefined || (isOnline && now - oldest < SOON_MS)) return null;
  return <Queue />;
}

function Queue() {
  const client = useClient();
  const pending = usePending();
  const titleOf = (id: string) => client.models.slide.get(id)?.title;
  return (
    <section className="panel waiting" aria-labelledby="waiting-heading">
      <h2 id="waiting-heading">Waiting to be sent: {pending.length}</h2>
      <ol>
        {pending.slice(0, SHOWN).map((mutation) => {
          const { key, says, state } = waitingWords(mutation, titleOf);
          return (
            <li key={key}>
              {says} <span>{state}</span>
            </li>
          );
        })}
      </ol>
      {pending.length > SHOWN && <p className="hint">And {pending.length - SHOWN} after them, in this order.</p>}
    </section>
  );
}
