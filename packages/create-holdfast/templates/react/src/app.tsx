import { ConflictCards } from "./parts/conflict-card.tsx";
import { OfflineBanner } from "./parts/offline-banner.tsx";
import { PendingList } from "./parts/pending-list.tsx";
import { PeopleHere } from "./parts/presence.tsx";
import { LIST_GROUP } from "./schema.ts";
import { TaskList } from "./task-list.tsx";

export function App({ user }: { user: string }) {
  return (
    <>
      <header>
        <h1>Tasks</h1>
        <PeopleHere room={LIST_GROUP} user={user} />
      </header>
      <OfflineBanner />
      <main>
        <ConflictCards />
        <TaskList />
        <PendingList />
      </main>
    </>
  );
}
