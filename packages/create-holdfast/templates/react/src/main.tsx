import "./style.css";
import { SyncProvider } from "@holdfast/react";
import { HoldfastDevtools } from "@holdfast/react/devtools";
import { createClient } from "@holdfast/sdk";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { LIST_GROUP, schema } from "./schema.ts";

/** Whose page this is: `?user=ben`. In your app, your sign-in says it. */
const user = new URLSearchParams(location.search).get("user") ?? "ann";
const url: string = import.meta.env.VITE_HOLDFAST_URL ?? "http://127.0.0.1:8787";
const getToken = async () => {
  const answer = await fetch(`/token?user=${encodeURIComponent(user)}`);
  if (!answer.ok) throw new Error(`/token answered ${answer.status}`);
  return answer.text();
};
const client = createClient({ schema, url, getToken, user });

createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <SyncProvider client={client}>
      <App user={user} />
      <HoldfastDevtools rooms={[LIST_GROUP]} />
    </SyncProvider>
  </StrictMode>,
);
if (import.meta.env.PROD) void navigator.serviceWorker?.register(`${import.meta.env.BASE_URL}shell-worker.js`);
