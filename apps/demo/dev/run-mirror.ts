import { spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { MirrorOrder, MirrorState } from "../mirror/words.ts";
import { dataDirectory, endWithParent, mirrorProgram, nodeWords } from "./project.ts";

export interface RunningMirror {
  /** What it said last; undefined while it starts, and after it has ended. */
  state(): MirrorState | undefined;
  hasEnded(): boolean;
  /** Resolves when it has said that it does so. */
  order(order: MirrorOrder): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the mirror as a process of its own, as a customer's would be. What it says goes to `mirror.log` beside the data. */
export function runMirror(): RunningMirror {
  const child = spawn(process.execPath, ["--import", pathToFileURL(endWithParent).href, ...nodeWords(mirrorProgram)], {
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    // Ctrl-C goes to the whole process group; this process stops the mirror itself.
    detached: process.platform !== "win32",
  });
  child.stderr?.pipe(createWriteStream(join(dataDirectory(), "mirror.log"), { flags: "a", mode: 0o600 }));
  let state: MirrorState | undefined;
  child.on("message", (said: MirrorState) => {
    state = said;
  });
  // It may end by itself: then the page says that it does not run, and the log why.
  let hasEnded = false;
  const ended = once(child, "exit")
    .catch(() => {})
    .then(() => {
      state = undefined;
      hasEnded = true;
    });
  return {
    state: () => state,
    hasEnded: () => hasEnded,
    order: async (order) => {
      child.send(order);
      const signal = AbortSignal.timeout(5_000);
      while (state?.isFailing !== order.isFailing) await once(child, "message", { signal });
    },
    stop: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
