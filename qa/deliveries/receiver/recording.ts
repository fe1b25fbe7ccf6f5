import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Behaviour } from "./behaviour.ts";

/** The start of a request. */
export interface Begun {
  readonly name: string;
  readonly hook: string;
  readonly arrived: number;
  readonly begun: number;
  readonly headers: Readonly<Record<"webhook-id" | "webhook-timestamp" | "webhook-signature", string>>;
  readonly behaviour: Behaviour;
}

export type Line =
  | { readonly begun: Begun }
  | { readonly name: string; readonly body: string }
  /** The receiver is about to send the status. */
  | { readonly name: string; readonly status: number; readonly at: number }
  | { readonly name: string; readonly ended: number; readonly how: "answered" | "closed" }
  /** A request to a URL that is not registered, such as a redirect's target. */
  | { readonly stray: string; readonly at: number };

export const FILE = /^receiver-(\d+)\.ndjson$/;

/** Writes synchronously, so that the data survives a kill of the process. */
export function openRecording(folder: string, generation: number) {
  const file = openSync(join(folder, `receiver-${generation}.ndjson`), "a");
  return {
    write: (line: Line): void => void writeSync(file, `${JSON.stringify(line)}\n`),
    close: () => closeSync(file),
  };
}

/** Milliseconds of the clock that all processes of this machine share. */
export const monotonic = (): number => Number(process.hrtime.bigint()) / 1e6;
