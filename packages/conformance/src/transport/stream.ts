import { WebSocket } from "ws";
import { isObject, mismatch, type Pattern } from "../assertions/pattern.ts";
import { shown, Unmet } from "../assertions/unmet.ts";
import type { Entry } from "../protocol/answers.ts";

export type Frame = Readonly<Record<string, unknown>> & { readonly frame: string };

/** A client of the stream that keeps all frames, and reports what it waited for in vain. */
export interface Listener {
  readonly frames: readonly Frame[];
  /** All entries, in order of arrival. */
  readonly entries: readonly Entry[];
  /** Overlaps and gaps between `entries` frames, in words. */
  readonly faults: readonly string[];
  readonly protocol: string;
  send(frame: object | string | Buffer): void;
  /** The next frame of this kind that matches and that no earlier call returned. */
  next(tag: string, pattern?: Pattern, withinMs?: number): Promise<Frame>;
  /** Waits until an `entries` frame covers the position. */
  reaches(position: number, withinMs?: number): Promise<void>;
  closes(withinMs?: number): Promise<{ readonly code: number; readonly reason: string }>;
  readonly isOpen: boolean;
  end(): void;
}

/** The upgrade was refused, with an HTTP answer. */
export class UpgradeRefused extends Error {
  readonly status: number;
  readonly text: string;
  constructor(status: number, text: string) {
    super(`the upgrade was refused with ${status}`);
    this.status = status;
    this.text = text;
  }
}

const PATIENCE_MS = 30_000;

export async function openStream(
  url: string,
  { path = "/v1/stream", origin }: { readonly path?: string; readonly origin?: string } = {},
): Promise<Listener> {
  const socket = new WebSocket(
    url.replace(/^http/, "ws").replace(/\/$/, "") + path,
    ["holdfast.v1"],
    origin === undefined ? {} : { origin },
  );
  const frames: Frame[] = [];
  const taken = new Set<Frame>();
  const entries: Entry[] = [];
  const faults: string[] = [];
  const waiting = new Set<() => void>();
  let position = 0;
  let closed: { code: number; reason: string } | undefined;
  const wakeAll = () => {
    for (const wake of [...waiting]) wake();
  };

  socket.on("message", (data: Buffer) => {
    const frame = frameOf(data.toString());
    frames.push(frame);
    if (frame.frame === "welcome") position = Number(frame.resumeFrom);
    if (frame.frame === "entries") read(frame);
    wakeAll();
  });
  socket.on("close", (code, reason) => {
    closed = { code, reason: reason.toString() };
    wakeAll();
  });
  socket.on("error", () => {});

  function read(frame: Frame): void {
    const { from, to, entries: received } = frame as unknown as { from: number; to: number; entries: Entry[] };
    if (!Array.isArray(received)) return void faults.push(`an entries frame without entries: ${shown(frame)}`);
    if (from !== position) faults.push(`(${from}, ${to}] came at position ${position}`);
    let last = from;
    for (const entry of received) {
      if (entry.syncId <= last || entry.syncId > to)
        faults.push(`${entry.syncId} came after ${last} in (${from}, ${to}]`);
      last = entry.syncId;
    }
    entries.push(...received);
    position = to;
  }

  function until<T>(expected: string, withinMs: number, found: () => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const giveUp = (why: string) => {
        finish();
        const last = frames.slice(-6);
        reject(new Unmet(expected, `${why}; the last frames: ${shown(last, 1_500)}`));
      };
      const look = () => {
        const result = found();
        if (result !== undefined) {
          finish();
          resolve(result);
        } else if (closed) giveUp(`the socket was closed with ${closed.code} ${closed.reason}`);
      };
      const timer = setTimeout(() => giveUp(`nothing like it within ${withinMs} ms`), withinMs);
      const finish = () => {
        clearTimeout(timer);
        waiting.delete(look);
      };
      waiting.add(look);
      look();
    });
  }

  await new Promise<void>((resolve, reject) => {
    socket.once("open", () => resolve());
    socket.once("unexpected-response", (_request, response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => {
        text += chunk.toString();
      });
      const done = () => reject(new UpgradeRefused(response.statusCode ?? 0, text));
      response.on("end", done);
      response.on("error", done);
    });
    socket.once("error", (error) => reject(new Unmet("an open stream", error.message)));
  });

  return {
    frames,
    entries,
    faults,
    protocol: socket.protocol,
    send: (frame) => socket.send(typeof frame === "string" || Buffer.isBuffer(frame) ? frame : JSON.stringify(frame)),
    next: (tag, pattern = {}, withinMs = PATIENCE_MS) =>
      until(`a frame "${tag}" like ${shown(pattern)}`, withinMs, () => {
        const found = frames.find(
          (frame) => !taken.has(frame) && frame.frame === tag && mismatch(frame, pattern) === undefined,
        );
        if (found) taken.add(found);
        return found;
      }),
    reaches: async (wanted, withinMs = PATIENCE_MS) =>
      void (await until(`entries up to ${wanted}`, withinMs, () => (position >= wanted ? true : undefined))),
    closes: (withinMs = PATIENCE_MS) => until("the socket to be closed", withinMs, () => closed),
    get isOpen() {
      return socket.readyState === WebSocket.OPEN;
    },
    end: () => socket.terminate(),
  };
}

/** The frame, or a stand-in for a message that is not a frame: a case then waits in vain, and its report shows this one. */
function frameOf(text: string): Frame {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value) && typeof value.frame === "string") return value as Frame;
  } catch {
    // Not JSON: the stand-in below shows it.
  }
  return { frame: "(no frame)", text };
}
