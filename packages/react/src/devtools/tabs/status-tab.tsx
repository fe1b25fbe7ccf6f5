import type { SyncStatus } from "@holdfast/sdk";
import type { ReactElement } from "react";
import { useSyncStatus } from "../../hooks/use-sync-status.ts";
import { describeConnection, describeLeader } from "../sentences.ts";

export function StatusTab(): ReactElement {
  return <StatusList status={useSyncStatus()} />;
}

/** The fields of a status, one per line. Missing fields are left out. */
export function StatusList({ status }: { status: Partial<SyncStatus> }): ReactElement {
  return (
    <dl>
      {linesOf(status).map(([name, says]) => (
        <div key={name} style={{ display: "contents" }}>
          <dt>{name}</dt>
          <dd>{says}</dd>
        </div>
      ))}
    </dl>
  );
}

function linesOf(status: Partial<SyncStatus>): [string, string][] {
  const { reason, retryAt, syncId, pending, oldestPendingAt, conflicts, attention } = status;
  const { storage, storageTrouble, persisted, lostStore, loadedRows } = status;
  const lines: [string, string | number | undefined][] = [
    ["Connection", describeConnection(status)],
    ["Leader", describeLeader(status)],
    ["Reason", reason],
    ["Next attempt", retryAt && clock(retryAt)],
    ["Log position", syncId],
    ["Unsettled writes", pending],
    ["Oldest pending", oldestPendingAt && clock(oldestPendingAt)],
    ["Conflicts", conflicts],
    ["Refused writes", attention],
    [
      "Writes are stored",
      storage && { opening: "the store is opening", disk: "on disk", memory: "in memory" }[storage],
    ],
    ["Trouble", storageTrouble],
    ["Persistent storage", persisted === undefined ? undefined : persisted ? "promised" : "not promised"],
    ["Lost store", lostStore && JSON.stringify(lostStore)],
    ["Rows of the snapshot", loadedRows],
  ];
  return lines.flatMap(([line, says]) => (says === undefined || says === "" ? [] : [[line, String(says)]]));
}

export const clock = (at: number): string => new Date(at).toLocaleTimeString();
