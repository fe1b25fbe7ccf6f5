import "./style.css";
import { SyncProvider } from "@holdfast/react";
import { StrictMode, useDeferredValue, useState, useSyncExternalStore } from "react";
import { createRoot } from "react-dom/client";
import { everything, Filters } from "./filters.tsx";
import { IssueList } from "./issue-list.tsx";
import { IssuePage } from "./issue-page.tsx";
import { client, useRecord, user } from "./sync.ts";
import { Refused, SyncLine } from "./sync-line.tsx";

function App() {
  const [filter, setFilter] = useState(everything);
  const shown = useDeferredValue(filter);
  const person = useRecord("person", user);
  const issueId = useSyncExternalStore(onHashChange, () => location.hash.slice("#/".length));
  return (
    <>
      <header>
        <h1>Tracker</h1> {person?.name ?? user}
        <SyncLine />
      </header>
      <Refused />
      <main className={issueId ? "with-issue" : ""}>
        <Filters filter={filter} change={(part) => setFilter((before) => ({ ...before, ...part }))} />
        <IssueList filter={shown} openId={issueId} />
        {issueId && <IssuePage key={issueId} id={issueId} />}
      </main>
    </>
  );
}

function onHashChange(listener: () => void) {
  addEventListener("hashchange", listener);
  return () => removeEventListener("hashchange", listener);
}

createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <SyncProvider client={client}>
      <App />
    </SyncProvider>
  </StrictMode>,
);
if (import.meta.env.PROD) void navigator.serviceWorker?.register("/shell-worker.js");
