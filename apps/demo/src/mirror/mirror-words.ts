import type { Mood } from "../connection/status-words.ts";
import type { RunningReport } from "./mirror-report.ts";

export interface MirrorWords {
  readonly mood: Mood | "unknown";
  readonly says: string;
  /** When it is tried again; empty when there is nothing to wait for. */
  readonly next: string;
}

/** How the deliveries to the mirror stand, in plain words; what was heard before this window went offline may be old. */
export function mirrorWords(report: RunningReport, isOnline: boolean): MirrorWords {
  const { status, lag, attempt, nextAttemptInMs, scheduleMs } = report;
  if (!isOnline) return { mood: "unknown", says: "Not known while you are offline", next: "" };
  const all = scheduleMs.length;
  if (status === "disabled") return { mood: "trouble", says: `Given up after ${all} attempts`, next: "" };
  if (lag === 0) return { mood: "calm", says: "Up to date", next: "" };
  if (attempt === 0 || nextAttemptInMs === null) return { mood: "busy", says: "Catching up", next: "" };
  return { mood: "waiting", says: `Attempt ${attempt} of ${all} failed`, next: `next in ${span(nextAttemptInMs)}` };
}

/** What to expect while it fails. */
export function mirrorHint({ isFailing, status, lag, scheduleMs }: RunningReport): string {
  if (status === "disabled")
    return "It is told of nothing any more, and nothing is lost: when it recovers, it goes on where it stopped.";
  if (!isFailing) return "";
  const tries = `Each change is tried ${scheduleMs.length} times: ${scheduleWords(scheduleMs)}. Outside this demo the waits are longer: 27 hours in all.`;
  return lag === 0 ? `It fails from the next change on; edit a slide. ${tries}` : tries;
}

/** "at once, then after 2, 5 and 10 s". */
export function scheduleWords(scheduleMs: readonly number[]): string {
  const waits = scheduleMs.map((ms) => (ms === 0 ? "at once" : seconds(ms)));
  const [first = "", ...rest] = waits;
  return rest.length === 0 ? first : `${first}, then after ${rest.slice(0, -1).join(", ")} and ${rest.at(-1)}\u00a0s`;
}

export const changes = (number: number): string => count(number, "change");

export const records = (number: number): string => count(number, "record");

const count = (number: number, unit: string) => `${number.toLocaleString()} ${unit}${number === 1 ? "" : "s"}`;

const seconds = (ms: number): string => String(Math.round(ms / 100) / 10);

const span = (ms: number): string => `${Math.ceil(ms / 1000)}\u00a0s`;
