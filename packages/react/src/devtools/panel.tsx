import type { ReactElement } from "react";
import { useEffect, useId, useRef, useState } from "react";
import { none } from "../none.ts";
import { useClient } from "../use-client.ts";
import { useSyncStatus } from "../use-sync-status.ts";
import { AttentionTab } from "./attention-tab.tsx";
import { ClaimsTab } from "./claims-tab.tsx";
import { EventsTab } from "./events-tab.tsx";
import { PresenceTab } from "./presence-tab.tsx";
import { QueueTab } from "./queue-tab.tsx";
import { createRecorder } from "./recorder.ts";
import { nameInWords } from "./sentences.ts";
import { StatusTab } from "./status-tab.tsx";
import { styles } from "./styles.ts";
import { Tabs } from "./tabs.tsx";

export interface DevtoolsProps {
  /** Rooms whose people are shown. A panel that is open there enters them, so name those that the app is in anyway. */
  readonly rooms?: readonly string[];
  /** Records whose claims are shown, beside those that writes wait for. */
  readonly records?: readonly (readonly [model: string, id: string])[];
  /** Whether the panel is open at first. */
  readonly defaultOpen?: boolean;
}

export function HoldfastDevtools({
  rooms = none,
  records = none,
  defaultOpen = false,
}: DevtoolsProps): ReactElement | null {
  const client = useClient();
  // One for as long as the client is the same: also closed, and over StrictMode's second mount, it goes on.
  const [kept, setKept] = useState(() => ({ client, recorder: createRecorder(client) }));
  if (kept.client !== client) setKept({ client, recorder: createRecorder(client) });
  const { recorder } = kept;
  useEffect(() => recorder.start(), [recorder]);

  const [isOpen, setOpen] = useState(defaultOpen);
  const whole = useRef<HTMLDivElement>(null);
  const wasOpen = useRef(isOpen);
  // The button that had the focus is gone: it goes to the selected tab, and back to the button.
  useEffect(() => {
    if (wasOpen.current !== isOpen)
      whole.current?.querySelector<HTMLElement>(isOpen ? "[aria-selected=true]" : "button")?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);
  const title = useId();
  const { name, pending, conflicts, attention } = useSyncStatus();
  const decisions = conflicts + attention;

  // A server renders nothing of it, so that nothing has to be the same.
  const [isMounted, setMounted] = useState(false);
  useEffect(() => setMounted(true), []);
  if (!isMounted) return null;

  const sum = `${nameInWords(name)} ${pending} unsettled, ${decisions} to decide`;
  return (
    <div ref={whole} className="holdfast-devtools">
      <style>{styles}</style>
      {isOpen ? (
        <section
          className="hd-panel"
          aria-labelledby={title}
          onKeyDown={(event) => {
            if (event.key === "Escape") setOpen(false);
          }}
        >
          <div className="hd-bar">
            <h2 id={title}>Holdfast devtools</h2>
            <span>{sum}</span>
            <button type="button" onClick={() => setOpen(false)}>
              Close
            </button>
          </div>
          <Tabs
            tabs={[
              { name: "Status", body: <StatusTab /> },
              { name: `Queue (${pending})`, body: <QueueTab /> },
              { name: `To decide (${decisions})`, body: <AttentionTab /> },
              { name: "Claims", body: <ClaimsTab records={records} /> },
              { name: "Presence", body: <PresenceTab rooms={rooms} /> },
              { name: "Events", body: <EventsTab recorder={recorder} /> },
            ]}
          />
        </section>
      ) : (
        <button type="button" aria-label={`Open Holdfast devtools. ${sum}`} onClick={() => setOpen(true)}>
          Holdfast: {name}
          {pending > 0 && `, ${pending} unsettled`}
          {decisions > 0 && `, ${decisions} to decide`}
        </button>
      )}
    </div>
  );
}
