// Servers that nobody kills, as many as are asked for, in one process: what they have in common is loaded once.
import { pathToFileURL } from "node:url";
import type { RunningServer, ServerOptions } from "@holdfast/server";
import * as own from "@holdfast/server";
import type { SenderPlan } from "./server-process.ts";

export type Wish =
  | { readonly number: number; readonly start: SenderPlan }
  /** The one that was started under that number. */
  | { readonly number: number; readonly stop: number };
export type Reply = { readonly number: number; readonly url?: string; readonly error?: string };

const running = new Map<number, RunningServer>();

async function start(number: number, { sources, ...options }: SenderPlan): Promise<string> {
  const { startServer } = (sources === undefined ? own : await import(pathToFileURL(sources).href)) as {
    startServer(options: ServerOptions): Promise<RunningServer>;
  };
  const server = await startServer({ ...options, port: 0 });
  running.set(number, server);
  return server.url;
}

process.on("message", async (wish: Wish) => {
  const { number } = wish;
  try {
    if ("start" in wish) process.send?.({ number, url: await start(number, wish.start) });
    else {
      await running.get(wish.stop)?.close();
      process.send?.({ number });
    }
  } catch (error) {
    process.send?.({ number, error: String(error) });
  }
});
// Who started it is gone.
process.on("disconnect", () => process.exit(1));
