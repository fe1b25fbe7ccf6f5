import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { demoFolder } from "../../apps/demo/dev/project.ts";

export interface DevelopmentServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** `npx vite` in the demo's folder: the page from its sources, for the demo whose data HOLDFAST_DATA_DIR names. */
export async function startDevelopmentServer(): Promise<DevelopmentServer> {
  // Serving a build has set NODE_ENV for this process, and here it would turn development off.
  const { NODE_ENV: _, FORCE_COLOR: __, ...env } = process.env;
  const vite = join(demoFolder, "node_modules/vite/bin/vite.js");
  const child = spawn(process.execPath, [vite, "--port", "0"], {
    cwd: demoFolder,
    env: { ...env, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const [found] = /http:\/\/\S+(?=\/)/.exec(line) ?? [];
      if (found) resolve(found);
    });
    void ended.then(() => reject(new Error("Vite ended before it listened.")));
  });
  return {
    url,
    stop: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
