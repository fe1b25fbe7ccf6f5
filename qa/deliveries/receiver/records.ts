import { closeSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { Webhook } from "standardwebhooks";
import type { Outcome, Received } from "../judge/evidence.ts";
import { UNSURE } from "./behaviour.ts";
import { type Begun, FILE, type Line } from "./recording.ts";

/** One request, as the receiver has recorded it so far. */
export interface Noted {
  readonly begun: Begun;
  readonly generation: number;
  body?: string;
  status?: { readonly status: number; readonly at: number };
  ended?: { readonly at: number; readonly how: "answered" | "closed" };
  signedBy?: readonly number[];
}

/** The records of receivers, read while they are written. */
export interface Records {
  readonly notes: ReadonlyMap<string, Noted>;
  readonly strays: readonly string[];
  /** Reads new records. */
  read(): void;
  /**
   * Verifies every new body with a third-party library. The library compares times with the clock, so this is
   * done soon. Undefined: the hook's secrets are unknown at the moment.
   */
  verify(secretsOf: (hook: string) => readonly string[] | undefined): void;
}

const CHUNK = 1_048_576;
const chunk = Buffer.alloc(CHUNK);

export function openRecords(folder: string): Records {
  const notes = new Map<string, Noted>();
  const strays: string[] = [];
  const unverified = new Set<Noted>();
  const files = new Map<string, { offset: number; rest: string; readonly decoder: StringDecoder }>();

  function take(line: Line, generation: number): void {
    if ("stray" in line) return void strays.push(line.stray);
    if ("begun" in line) {
      notes.set(line.begun.name, { begun: line.begun, generation });
      return;
    }
    const note = notes.get(line.name);
    if (!note) return;
    if ("body" in line) {
      note.body = line.body;
      unverified.add(note);
    } else if ("status" in line) note.status ??= line;
    else note.ended = { at: line.ended, how: line.how };
  }

  function readFile(name: string, generation: number): void {
    const environment = files.get(name) ?? { offset: 0, rest: "", decoder: new StringDecoder("utf8") };
    files.set(name, environment);
    if (statSync(join(folder, name)).size === environment.offset) return;
    const file = openSync(join(folder, name), "r");
    for (let length = 1; length > 0; ) {
      length = readSync(file, chunk, 0, CHUNK, environment.offset);
      environment.offset += length;
      const lines = (environment.rest + environment.decoder.write(chunk.subarray(0, length))).split("\n");
      environment.rest = lines.pop() ?? "";
      for (const line of lines) take(JSON.parse(line) as Line, generation);
    }
    closeSync(file);
  }

  return {
    notes,
    strays,
    read() {
      for (const name of readdirSync(folder)) {
        const [, generation] = FILE.exec(name) ?? [];
        if (generation !== undefined) readFile(name, Number(generation));
      }
    },
    verify(secretsOf) {
      for (const note of unverified) {
        const secrets = secretsOf(note.begun.hook);
        if (!secrets) continue;
        note.signedBy = signersOf(note, secrets);
        unverified.delete(note);
      }
    },
  };
}

function signersOf({ body = "", begun: { headers } }: Noted, secrets: readonly string[]): number[] {
  return secrets.flatMap((secret, i) => {
    try {
      new Webhook(secret).verify(body, headers, { jsonParse: false });
      return [i];
    } catch {
      return [];
    }
  });
}

/** The request for the judge. `endOf` returns when a process that recorded no end had died. */
export function receivedOf(
  { begun, body, status, ended, signedBy, generation }: Noted,
  endpoint: string,
  requestMs: number,
  endOf: (generation: number) => number,
): Received {
  const end = ended?.at ?? endOf(generation);
  return {
    name: `${begun.name} (${begun.behaviour})`,
    endpoint,
    arrived: begun.arrived,
    begun: begun.begun,
    ended: end,
    webhookId: begun.headers["webhook-id"],
    ...(body !== undefined && { body, signedBy: signedBy ?? [] }),
    outcome: outcomeOf({ begun, generation, ...(status && { status }), ...(ended && { ended }) }, requestMs),
    ...(status && { status: status.status }),
    ...((status?.status === 429 || status?.status === 503) && { retryAfterMs: 1_000 }),
  };
}

/** Accepted: a 2xx was sent in time on an open connection. Unknown: the sender may have received a 2xx. Otherwise failed. */
function outcomeOf({ begun, status, ended }: Noted, requestMs: number): Outcome {
  if (!status || status.status < 200 || status.status > 299) return "failed";
  if (ended && status.at > ended.at) return "failed";
  const isLate = status.at - begun.arrived > requestMs / 2;
  if (!ended || isLate || UNSURE.includes(begun.behaviour)) return "unknown";
  // The sender decides by the status, and closes responses that are too slow or too long.
  const isCut = ended.how === "closed" && !begun.behaviour.startsWith("200, ");
  return isCut ? "unknown" : "accepted";
}
