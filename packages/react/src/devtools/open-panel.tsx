import { type ReactElement, useId, useRef } from "react";
import { useSyncStatus } from "../use-sync-status.ts";
import { AttentionTab } from "./attention-tab.tsx";
import { ClaimsTab } from "./claims-tab.tsx";
import { EventsTab } from "./events-tab.tsx";
import { PresenceTab } from "./presence-tab.tsx";
import { QueueTab } from "./queue-tab.tsx";
import type { Recorder } from "./recorder.ts";
import { sumInWords } from "./sentences.ts";
import { StatusTab } from "./status-tab.tsx";
import { Tabs } from "./tabs.tsx";
import { useFocus } from "./use-focus.ts";

interface Props {
  readonly rooms: readonly string[];
  readonly records: readonly (readonly [model: string, id: string])[];
  readonly recorder: Recorder;
  /** Whether somebody has just asked for it. */
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
        <span>{sumInWords(status)}</span>
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
