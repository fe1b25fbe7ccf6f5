import "./style.css";
import { SyncProvider } from "@holdfast/react";
import { HoldfastDevtools } from "@holdfast/react/devtools";
import { createClient } from "@holdfast/sdk";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
// "holdfast init" writes it: the models of your tables.
import { schema } from "../schema.ts";
import { LiveTable } from "./live-table.tsx";
import { SyncLine } from "./sync-line.tsx";

const url: string = import.meta.env.VITE_HOLDFAST_URL ?? "http://127.0.0.1:8787";
const getToken = async () => {
  const answer = await fetch("/token");
  if (!answer.ok) throw new Error(`/token answered ${answer.status}`);
  return answer.text();
};
const client = createClient({ schema, url, getToken });

createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <SyncProvider client={client}>
      <SyncLine />
      <main>
        {Object.entries(schema.models).map(([name, model]) => (
          <LiveTable key={name} name={name} model={model} />
        ))}
      </main>
      <HoldfastDevtools />
    </SyncProvider>
  </StrictMode>,
);
