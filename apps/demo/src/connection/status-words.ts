import type { SyncStatus } from "@holdfast/sdk";
import { DECISION } from "../slides/slide-state.ts";

/** How the page feels about its connection: what colour the dot is. */
export type Mood = "calm" | "busy" | "waiting" | "trouble";

export interface StatusWords {
  readonly mood: Mood;
  readonly says: string;
  /** The number that waits and how long its oldest has waited; empty when nothing does. */
  readonly waiting: string;
}

/** The sync status in plain words. `blocked` writes wait behind one that waits for a person. */
export function statusWords(status: SyncStatus, blocked: number, now: number): StatusWords {
  const waiting = waitingWords(status, now);
  switch (status.name) {
    case "starting":
      return { mood: "busy", says: "Opening your copy…", waiting };
    case "connecting":
      // After a failure it is no news that it is being tried again.
      return status.reason === undefined
        ? { mood: "busy", says: "Connecting…", waiting }
        : { mood: "waiting", says: "No connection", waiting };
    case "online":
      if (status.pending > blocked) return { mood: "busy", says: "Saving…", waiting };
      if (status.conflicts > 0) return { mood: "waiting", says: DECISION, waiting };
      return status.attention > 0
        ? { mood: "waiting", says: "Needs attention", waiting }
        : { mood: "calm", says: `All changes saved${status.live ? "" : "; updates every few seconds"}`, waiting };
    case "offline":
      return { mood: "waiting", says: "No connection", waiting };
    case "paused":
      return { mood: "waiting", says: "Working offline", waiting };
    case "needs-auth":
      return { mood: "trouble", says: "Signed out: reload the page to sign in again", waiting };
    case "storage-failed":
      return { mood: "trouble", says: "This browser cannot store your changes", waiting };
  }
}

function waitingWords(status: SyncStatus, now: number): string {
  if (status.pending === 0) return "";
  const number = `${status.pending} ${status.pending === 1 ? "change" : "changes"}`;
  const oldest = status.oldestPendingAt;
  // Under a few seconds an age would only flicker.
  if (oldest === undefined || now - oldest < 5_000) return number;
  return `${number}, oldest from ${ago(now - oldest)}`;
}

/** "12 seconds ago", "3 minutes ago", "2 hours ago", "4 days ago". */
export function ago(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return count(seconds, "second");
  if (seconds < 3600) return count(Math.floor(seconds / 60), "minute");
  if (seconds < 86_400) return count(Math.floor(seconds / 3600), "hour");
  return count(Math.floor(seconds / 86_400), "day");
}

const count = (number: number, unit: string) => `${number} ${unit}${number === 1 ? "" : "s"} ago`;
