import { closeSync, openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { ClaimStatus, ParticipantKind } from "@holdfast/sdk/protocol";

/**
 * The records of a run: every request with its start and end, and every claim that a client saw.
 * Each process writes lines to a file of its own, and the beginning before the request leaves: a process that is killed
 * leaves requests without an end, and nothing that happened without a trace.
 */
export interface History {
  readonly participants: readonly Participant[];
  readonly calls: readonly Call[];
  /** Claims that the stream pushed. */
  readonly heard: readonly Heard[];
  readonly log: readonly Entry[];
}

export interface Participant {
  readonly actor: string;
  readonly kind: ParticipantKind;
  /** The duration of all its claims and renewals. So a lease that ends at E was granted or renewed at E − ttlMs. */
  readonly ttlMs: number;
}

/** One instant by two clocks of this machine: one that only runs forward, and the one that Postgres reads too. */
export interface Moment {
  readonly mono: number;
  readonly wall: number;
}

export type What =
  | { op: "claim"; record: string; field?: string | undefined; queue: boolean; preempt?: boolean }
  | { op: "renew" | "poll"; record: string; claim: string }
  | { op: "release"; record: string; claim: string }
  /** All own claims on that record. */
  | { op: "release-record"; record: string }
  | { op: "list" | "read" | "reorder"; record: string }
  /** Absent fields: it concerns the whole record. */
  | { op: "write"; record: string; name: string; fields?: readonly string[]; claim?: string; also?: string };

/** A claim as it was shown. Times in milliseconds, by the database's clock. */
export interface ShownClaim {
  readonly id: string;
  readonly actor: string;
  readonly record: string;
  readonly field?: string;
  readonly status: ClaimStatus;
  readonly fence?: number;
  readonly position?: number;
  readonly createdAt: number;
  readonly expiresAt?: number;
}

export interface Answer {
  readonly status: number;
  readonly code?: string;
  /** The claim of the answer, or those that it lists. */
  readonly claims: readonly ShownClaim[];
  /** The number of holders in a refusal, if the envelope has `claims`. */
  readonly holders?: number;
  /** Of an acknowledged write: its last position. */
  readonly lastSyncId?: number;
}

export interface Call {
  readonly id: string;
  readonly actor: string;
  readonly what: What;
  readonly asked: Moment;
  /** Both undefined: the outcome is unknown. */
  readonly answered?: Moment;
  readonly answer?: Answer;
}

export interface Heard {
  readonly actor: string;
  readonly at: Moment;
  readonly claim: ShownClaim;
}

/** A line of the log; its time by the database's clock. */
export interface Entry {
  readonly syncId: number;
  readonly record: string;
  /** Null: it concerns the whole record. */
  readonly fields: readonly string[] | null;
  readonly actor: string;
  readonly name: string;
  readonly claim: string | null;
  readonly at: number;
}

export const momentNow = (): Moment => ({ mono: Number(process.hrtime.bigint()) / 1e6, wall: Date.now() });

type Line =
  | { readonly asked: Omit<Call, "answered" | "answer"> }
  | { readonly id: string; readonly answered: Moment; readonly answer: Answer }
  | { readonly heard: Heard };

export interface Recorder {
  asked(call: Omit<Call, "answered" | "answer">): void;
  answered(id: string, answered: Moment, answer: Answer): void;
  heard(heard: Heard): void;
  close(): void;
}

const SUFFIX = ".calls.ndjson";

/** Writes synchronously, so that the data survives a kill of the process. */
export function openRecorder(folder: string, name: string): Recorder {
  const file = openSync(join(folder, `${name}${SUFFIX}`), "a");
  const write = (line: Line) => void writeSync(file, `${JSON.stringify(line)}\n`);
  return {
    asked: (asked) => write({ asked }),
    answered: (id, answered, answer) => write({ id, answered, answer }),
    heard: (heard) => write({ heard }),
    close: () => closeSync(file),
  };
}

/** Reads the records of all processes, with calls in the order in which they were sent. */
export function readRecords(folder: string): Pick<History, "calls" | "heard"> {
  const files = readdirSync(folder).filter((name) => name.endsWith(SUFFIX));
  const calls = new Map<string, Call>();
  const heard: Heard[] = [];
  for (const name of files)
    for (const text of readFileSync(join(folder, name), "utf8").split("\n")) {
      const line = lineOf(text);
      if (!line) continue;
      if ("asked" in line) calls.set(line.asked.id, line.asked);
      else if ("heard" in line) heard.push(line.heard);
      else {
        const call = calls.get(line.id);
        if (call) calls.set(line.id, { ...call, answered: line.answered, answer: line.answer });
      }
    }
  return { calls: [...calls.values()].sort((a, b) => a.asked.mono - b.asked.mono), heard };
}

/** A killed process may leave half a line, with a response that nothing depends on. */
function lineOf(text: string): Line | undefined {
  try {
    return text === "" ? undefined : (JSON.parse(text) as Line);
  } catch {
    return undefined;
  }
}
