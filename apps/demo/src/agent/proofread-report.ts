import type { FieldChange, ProofreadEvent } from "./proofread-event.ts";

/** What one run of the proofreader has done so far. */
export interface ProofreadReport {
  readonly state: "working" | "done" | "stopped";
  /** The slide that it works on. */
  readonly at: string | undefined;
  readonly changes: readonly SlideChange[];
  readonly left: number;
  /** Why it stopped before the end. */
  readonly reason: string;
}

export interface SlideChange {
  readonly slide: string;
  readonly fields: readonly FieldChange[];
}

export const NEW_REPORT: ProofreadReport = { state: "working", at: undefined, changes: [], left: 0, reason: "" };

export function withEvent(report: ProofreadReport, event: ProofreadEvent): ProofreadReport {
  switch (event.type) {
    case "at":
      return { ...report, at: event.slide };
    case "changed":
      return { ...report, changes: [...report.changes, { slide: event.slide, fields: event.fields }] };
    case "left":
      return { ...report, left: report.left + 1 };
    case "done":
      return { ...report, state: "done", at: undefined };
  }
}

/** The run is over without having said that it is done. */
export const stopped = (report: ProofreadReport, reason: string): ProofreadReport =>
  report.state === "working" ? { ...report, state: "stopped", at: undefined, reason } : report;

/** The report in one sentence. */
export function reportSentence({ state, changes, left, reason }: ProofreadReport): string {
  const changed = `${count(changes.length)} changed`;
  switch (state) {
    case "working":
      return `The proofreader is reading: ${changed} so far.`;
    case "done":
      return `Done, ${changed}${left > 0 ? `, ${count(left)} left to people` : ""}.`;
    case "stopped":
      return reason || `The proofreader stopped early: ${changed}.`;
  }
}

const count = (slides: number) => `${slides} ${slides === 1 ? "slide" : "slides"}`;
