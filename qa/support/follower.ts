import type { FrameDown, LogEntry } from "@holdfast/sdk/protocol";
import type { Followed } from "./audit.ts";
import { openStream } from "./open-stream.ts";

/** Follows the log, and resumes at its position when the connection is cut. */
export interface Follower extends Followed {
  reaches(position: number): Promise<void>;
  close(): void;
}

const RETRY_MS = 100;
const PATIENCE_MS = 30_000;

/** `heard` is called with each entry. */
export function follow(url: string, token: string, heard: (entry: LogEntry) => void = () => {}): Follower {
  const positions: number[] = [];
  const faults: string[] = [];
  const waiting = new Set<() => void>();
  let position = 0;
  function receive(frame: FrameDown): void {
    if (frame.frame === "resync") faults.push(`told to resync (${frame.reason}) at ${position}`);
    if (frame.frame !== "entries") return;
    if (frame.from !== position) faults.push(`(${frame.from}, ${frame.to}] came at position ${position}`);
    for (const entry of frame.entries) {
      positions.push(entry.syncId);
      heard(entry);
    }
    position = frame.to;
    for (const wake of waiting) wake();
  }

  const close = openStream({
    ...{ urls: [url], retryMs: RETRY_MS, receive },
    hello: () => [{ frame: "hello", token, since: position }],
  });
  return {
    positions,
    faults,
    reaches: (wanted) =>
      new Promise((resolve) => {
        // The audit finds a follower that never gets there.
        const timer = setTimeout(resolve, PATIENCE_MS);
        const check = () => {
          if (position < wanted) return;
          clearTimeout(timer);
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
    close,
  };
}
