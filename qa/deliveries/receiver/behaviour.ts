import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";

/** How the receiver handles one request. */
export interface Scene {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Reads the whole body. */
  read(): Promise<string>;
  /** Records that this status is sent now. */
  note(status: number): void;
  /** The usual delay in milliseconds. */
  some(most: number): number;
  /** kill -9 of every sender, unless that has just been done. */
  killSenders(): void;
  /** kill -9 of this process, unless it has just been started. */
  die(): void;
  /** Waits until the run orders how to continue. */
  held(): Promise<Behaviour>;
  /** The target of redirects: a request to it means that a redirect was followed. */
  readonly elsewhere: string;
}

const answer =
  (status: number, headers: Readonly<Record<string, string>> = {}, body = "") =>
  async (scene: Scene): Promise<void> => {
    await scene.read();
    scene.note(status);
    scene.response.writeHead(status, headers);
    await new Promise<void>((resolve) => {
      scene.response.on("close", resolve);
      scene.response.end(status === 204 ? undefined : body, () => resolve());
    });
  };

/** Writes raw bytes, then ends or resets the connection. */
const raw =
  (text: string, end: "fin" | "reset", status?: number) =>
  async ({ request: { socket }, read, note }: Scene): Promise<void> => {
    await read();
    if (status !== undefined) note(status);
    await new Promise<void>((resolve) => {
      socket.on("close", resolve);
      socket.write(text, () => {
        if (end === "reset") socket.resetAndDestroy();
        else socket.end();
      });
    });
  };

const CHUNK = Buffer.alloc(65_536, "x");
const HUGE_BYTES = 256 * 1_048_576;

/** By name, for seeds and scenarios. */
export const BEHAVIOURS = {
  "200": answer(200, { "content-type": "text/plain" }, "thank you"),
  "204": answer(204),
  "299": answer(299),
  async "204 after a while"(scene: Scene) {
    await scene.read();
    await pause(scene.some(300));
    await BEHAVIOURS["204"](scene);
  },
  async "204 after early hints"(scene: Scene) {
    await scene.read();
    await new Promise<void>((resolve) => scene.response.writeEarlyHints({ link: "</a>; rel=preload" }, resolve));
    await BEHAVIOURS["204"](scene);
  },
  async "200, a byte a second"(scene: Scene) {
    await scene.read();
    scene.note(200);
    scene.response.writeHead(200, { "content-type": "text/plain" });
    while (scene.response.writable && !scene.response.destroyed) {
      scene.response.write("x");
      await pause(1_000);
    }
  },
  async "200, with a huge body"({ response, read, note }: Scene) {
    await read();
    note(200);
    response.writeHead(200, { "content-type": "text/plain" });
    const closed = new Promise<void>((resolve) => response.on("close", resolve));
    for (let sent = 0; sent < HUGE_BYTES && !response.destroyed; sent += CHUNK.length)
      if (!response.write(CHUNK))
        await Promise.race([closed, new Promise((resolve) => response.once("drain", resolve))]);
    response.end();
  },
  /** It is unknown whether the sender received the status. */
  "200, and a reset in the body": raw("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nbegun", "reset", 200),
  async "204, and dead"(scene: Scene) {
    await BEHAVIOURS["204"](scene);
    scene.die();
  },
  async "204, and the senders are killed"(scene: Scene) {
    await BEHAVIOURS["204"](scene);
    scene.killSenders();
  },
  "199": raw("HTTP/1.1 199 Odd\r\n\r\n", "fin"),
  "301": answer(301, { location: "/elsewhere" }),
  async "302"(scene: Scene) {
    await answer(302, { location: scene.elsewhere })(scene);
  },
  async "307"(scene: Scene) {
    await answer(307, { location: scene.elsewhere })(scene);
  },
  "400": answer(400, { "content-type": "application/json" }, '{"error":"no"}'),
  "404": answer(404),
  "410": answer(410),
  "418": answer(418),
  "429": answer(429, { "retry-after": "1" }),
  "500": answer(500, {}, "x".repeat(2_000)),
  "503": answer(503, { "retry-after": "1" }),
  async "500 after a while"(scene: Scene) {
    await scene.read();
    await pause(scene.some(300));
    await BEHAVIOURS["500"](scene);
  },
  async hang(scene: Scene) {
    await scene.read();
    await new Promise<void>((resolve) => scene.response.on("close", resolve));
  },
  async "reset before it is read"({ request }: Scene) {
    request.socket.resetAndDestroy();
  },
  async "reset after it is read"({ request, read }: Scene) {
    await read();
    request.socket.resetAndDestroy();
  },
  "closed without an answer": raw("", "fin"),
  "half a status line": raw("HTTP/1.1 20", "reset"),
  "no HTTP": raw("SSH-2.0-OpenSSH_9.2\r\n", "fin"),
  async dead(scene: Scene) {
    await scene.read();
    scene.die();
    scene.request.socket.destroy();
  },
  async "the senders are killed"(scene: Scene) {
    await scene.read();
    scene.killSenders();
    scene.request.socket.destroy();
  },
  /** Waits until the run orders how to continue. */
  async held(scene: Scene): Promise<void> {
    await scene.read();
    await BEHAVIOURS[await scene.held()](scene);
  },
} satisfies Record<string, (scene: Scene) => Promise<void>>;
export type Behaviour = keyof typeof BEHAVIOURS;

/** Behaviours whose 2xx reaches the sender, or may reach it. */
export const UNSURE: readonly Behaviour[] = ["200, and a reset in the body", "204, and dead"];

/** The moods of a receiver: the behaviours for a hundred requests. */
export const MOODS = {
  calm: [[100, ["204"]]],
  good: [
    [80, ["200", "204", "299"]],
    [16, ["204 after a while", "204 after early hints"]],
    [4, ["500", "reset after it is read", "503"]],
  ],
  shaky: [
    [45, ["200", "204", "299", "204 after a while", "204 after early hints"]],
    [20, ["500", "500 after a while", "503", "429", "400", "404", "410", "418", "301", "302", "307", "199"]],
    [
      14,
      [
        "reset before it is read",
        "reset after it is read",
        "closed without an answer",
        "half a status line",
        "no HTTP",
      ],
    ],
    [8, ["hang"]],
    [6, ["200, a byte a second", "200, with a huge body", "200, and a reset in the body"]],
    [3, ["204, and dead", "dead"]],
    [4, ["204, and the senders are killed", "the senders are killed"]],
  ],
  sick: [
    [6, ["204"]],
    [94, ["500", "503", "410", "302", "reset before it is read", "closed without an answer", "hang"]],
  ],
  slow: [[100, ["204 after a while"]]],
  broken: [[100, ["500"]]],
} satisfies Record<string, readonly (readonly [share: number, of: readonly Behaviour[]])[]>;
export type Mood = keyof typeof MOODS;

/** One of a mood's behaviours; `roll` gives a number from 0 up to 1. */
export function behaviourOf(mood: Mood, roll: () => number): Behaviour {
  let left = roll() * 100;
  for (const [share, of] of MOODS[mood] as readonly (readonly [number, readonly Behaviour[]])[]) {
    if (left < share) return of[Math.floor(roll() * of.length)] as Behaviour;
    left -= share;
  }
  return "204";
}
