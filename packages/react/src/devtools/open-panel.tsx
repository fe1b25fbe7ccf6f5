import { type ReactElement, useId, useRef } from "react";
import { useSyncStatus } from "../hooks/use-sync-status.ts";
import type { Recorder } from "./recorder.ts";
import { describeStatus } from "./sentences.ts";
import { AttentionTab } from "./tabs/attention-tab.tsx";
import { ClaimsTab } from "./tabs/claims-tab.tsx";
import { EventsTab } from "./tabs/events-tab.tsx";
import { PresenceTab } from "./tabs/presence-tab.tsx";
import { QueueTab } from "./tabs/queue-tab.tsx";
import { StatusTab } from "./tabs/status-tab.tsx";
import { Tabs } from "./tabs/tabs.tsx";
import { useFocus } from "./use-focus.ts";

interface Props {
  readonly rooms: readonly string[];
  readonly records: readonly (readonly [model: string, id: string])[];
  readonly recorder: Recorder;
  /** The user has just opened it. */
  readonly takesFocus: boolean;
  close(): void;
}

export function OpenPanel({ rooms, records, recorder, takesFocus, close }: Props): ReactElement {
  const panel = useRef<HTMLElement>(null);
  useFocus(panel, "[aria-selected=true]", takesFocus);
  const title = useId();
  const status = useSyncStatus();
  const { pending, conflicts, attention } = status;
  return (
    <section
      ref={panel}
      className="hd-panel"
      aria-labelledby={title}
      onKeyDown={(event) => {
        if (event.key === "Escape") close();
      }}
    >
      <div className="hd-bar">
        <h2 id={title}>Holdfast devtools</h2>
        <span>{describeStatus(status)}</span>
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
      <Tabs
        tabs={[
          { name: "Status", body: <StatusTab /> },
          { name: `Queue (${pending})`, body: <QueueTab /> },
          { name: `To decide (${conflicts + attention})`, body: <AttentionTab /> },
          { name: "Claims", body: <ClaimsTab records={records} /> },
          { name: "Presence", body: <PresenceTab rooms={rooms} /> },
          { name: "Events", body: <EventsTab recorder={recorder} /> },
        ]}
      />
    </section>
  );
}
