import "./style.css";
import { SyncProvider } from "@holdfast/react";
import { StrictMode, useDeferredValue } from "react";
import { createRoot } from "react-dom/client";
import { usePlace } from "./address.ts";
import { Filters } from "./filters.tsx";
import { IssueList } from "./issue-list.tsx";
import { IssuePage } from "./issue-page.tsx";
import { client, useRecord, user } from "./sync.ts";
import { Conflicts, Refused, SyncLine } from "./sync-line.tsx";

function App() {
  const { issueId, query } = usePlace();
  const person = useRecord("person", user);
  return (
    <>
      <header>
        <h1>Tracker</h1> {person?.name ?? user}
        <SyncLine />
      </header>
      <Conflicts />
      <Refused />
      <main className={issueId ? "with-issue" : ""}>
        <Filters issueId={issueId} query={query} />
        <IssueList issueId={issueId} query={useDeferredValue(query)} />
        {issueId && <IssuePage key={issueId} issueId={issueId} query={query} />}
      </main>
    </>
  );
}

createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <SyncProvider client={client}>
      <App />
    </SyncProvider>
  </StrictMode>,
);
if (import.meta.env.PROD) void navigator.serviceWorker?.register("/shell-worker.js");
