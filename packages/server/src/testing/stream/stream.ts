import type { Entries, FollowedRecords, FrameDown, LogEntry } from "@holdfast/sdk/protocol";
import { WebSocket } from "ws";
import { frameFault } from "./frame-check.ts";

type Tag = FrameDown["frame"];
type FrameOf<T extends Tag> = Extract<FrameDown, { frame: T }>;

/** A stream client that keeps everything it receives. A frame that does not fit its schema fails the test run. */
export interface TestStream {
  readonly frames: readonly FrameDown[];
  /** All received entries, in order. */
  readonly entries: readonly LogEntry[];
  /** The position it has read to. Frames that leave a gap or overlap are recorded in `faults`. */
  readonly position: number;
  readonly faults: readonly string[];
  send(frame: object | string | Buffer): void;
  /** Waits for the next frame of a kind that was not taken yet. */
  next<T extends Tag>(tag: T): Promise<FrameOf<T>>;
  /** Resolves once the position is reached. */
  reaches(position: number): Promise<void>;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  readonly socket: WebSocket;
  close(): Promise<void>;
}

export interface Hello {
  readonly token?: string;
  readonly since?: number;
  readonly log?: string;
  readonly models?: readonly string[];
  readonly groups?: readonly string[];
  readonly where?: FollowedRecords;
  readonly clientId?: string;
  readonly view?: string;
  readonly schema?: string;
}

const PATIENCE_MS = 15_000;

/** Opens a socket without sending anything. */
export async function openStream(url: string, options: { origin?: string; path?: string } = {}): Promise<TestStream> {
  const { path = "/v1/stream", origin } = options;
  const socket = new WebSocket(
    `${url.replace("http", "ws")}${path}`,
    ["holdfast.v1"],
    origin === undefined ? {} : { origin },
  );
  const frames: FrameDown[] = [];
  const entries: LogEntry[] = [];
  const faults: string[] = [];
  const taken = new Map<Tag, number>();
  const waiting = new Set<() => void>();
  let position = 0;
  let closing: { code: number; reason: string } | undefined;

  socket.on("message", (data: Buffer) => {
    const frame = JSON.parse(data.toString()) as FrameDown;
    const fault = frameFault(frame);
    // Outside of this listener, so that the socket is as it was: the runner reports it even if the test awaits nothing more.
    if (fault !== undefined) setImmediate(() => Promise.reject(new Error(fault)));
    frames.push(frame);
    if (frame.frame === "welcome") position = frame.resumeFrom;
    if (frame.frame === "entries") read(frame);
    for (const wake of waiting) wake();
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.on("close", (code, reason) => {
      closing = { code, reason: reason.toString() };
      for (const wake of waiting) wake();
      resolve(closing);
    }),
  );
  socket.on("error", () => {});

  function read({ from, to, entries: told }: Entries): void {
    if (from !== position) faults.push(`(${from}, ${to}] came at position ${position}`);
    let last = from;
    for (const entry of told) {
      if (entry.syncId <= last || entry.syncId > to)
        faults.push(`${entry.syncId} came after ${last} in (${from}, ${to}]`);
      last = entry.syncId;
    }
    entries.push(...told);
    position = to;
  }

  function until<T>(what: string, found: () => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => end(new Error(`Waited in vain for ${what}.`)), PATIENCE_MS);
      const end = (error: Error) => {
        clearTimeout(timer);
        waiting.delete(look);
        reject(error);
      };
      const look = () => {
        const result = found();
        if (result === undefined) {
          if (closing) end(new Error(`Closed with ${closing.code} ${closing.reason}, waiting for ${what}.`));
          return;
        }
        clearTimeout(timer);
        waiting.delete(look);
        resolve(result);
      };
      waiting.add(look);
      look();
    });
  }

  await new Promise<void>((resolve, reject) => {
    socket.once("open", () => resolve());
    socket.once("unexpected-response", (_request, response) =>
      reject(new Error(`Refused with ${response.statusCode}.`)),
    );
    socket.once("error", reject);
  });

  return {
    frames,
    entries,
    faults,
    get position() {
      return position;
    },
    send: (frame) => socket.send(typeof frame === "string" || Buffer.isBuffer(frame) ? frame : JSON.stringify(frame)),
    next: <T extends Tag>(tag: T) =>
      until(tag, () => {
        const from = taken.get(tag) ?? 0;
        const at = frames.findIndex((frame, i) => i >= from && frame.frame === tag);
        if (at < 0) return undefined;
        taken.set(tag, at + 1);
        return frames[at] as FrameOf<T>;
      }),
    reaches: (wanted) => until(`position ${wanted}`, () => (position >= wanted ? true : undefined)).then(() => {}),
    closed,
    socket,
    close: async () => {
      socket.close();
      await closed;
    },
  };
}

/** Opens a socket, sends hello and waits for the welcome. */
export async function follow(url: string, token: string, hello: Hello = {}): Promise<TestStream> {
  const stream = await openStream(url);
  stream.send({ frame: "hello", token, ...hello });
  await stream.next("welcome");
  return stream;
}
