import "./styles/base.css";
import "./styles/board.css";
import "./styles/line.css";
import "./styles/mirror.css";
import "./styles/panels.css";
import "./styles/people.css";
import "./styles/timeline.css";
import "./styles/together.css";
import "./styles/tray.css";
import { SyncProvider } from "@holdfast/react";
import { createClient } from "@holdfast/sdk";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { rememberedNetworkMode } from "./connection/network-mode.ts";
import { setNetworkMode, simulateNetwork } from "./connection/simulated-network.ts";
import { keepPage } from "./keep-page.ts";
import { PersonContext } from "./people/people.ts";
import { boardSchema } from "./schema.ts";
import { knownServer, openSession, personOf } from "./session.ts";
import { Together } from "./windows/together.tsx";
import { peopleTogether } from "./windows/together-address.ts";

const person = personOf(location.search);
const root = createRoot(document.querySelector("#root") as HTMLElement);

function open(url: string): void {
  const mode = rememberedNetworkMode(person);
  simulateNetwork(url);
  setNetworkMode(mode);
  const client = createClient({
    schema: boardSchema,
    url,
    // Asked again when a token has ended.
    getToken: async () => {
      const session = await openSession(person);
      // The server has moved since this browser last heard of it. What is queued waits on disk for the new address.
      if (session.url !== url) location.reload();
      return session.token;
    },
    // One local copy per person, so that two windows of one browser can be two people.
    store: `holdfast-demo:${person}`,
    paused: mode === "offline",
  });
  root.render(
    <StrictMode>
      <PersonContext.Provider value={person}>
        <SyncProvider client={client}>
          <App person={person} />
        </SyncProvider>
      </PersonContext.Provider>
    </StrictMode>,
  );
}

function sayWhyNot(error: unknown): void {
  root.render(
    <div className="opening" role="alert">
      <p>The board could not be opened.</p>
      <p>{error instanceof Error ? error.message : String(error)}</p>
    </div>,
  );
}

const together = peopleTogether(location.search);
const known = knownServer();
if (together.length > 1) {
  const deckId = new URLSearchParams(location.search).get("deck") ?? undefined;
  root.render(<Together people={together} deckId={deckId} />);
} else if (known) open(known);
else openSession(person).then(({ url }) => open(url), sayWhyNot);
keepPage();
