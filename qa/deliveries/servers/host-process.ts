// Runs several servers that are not killed in one process, so that the code they share is loaded once.
import { pathToFileURL } from "node:url";
import type { RunningServer, ServerOptions } from "@holdfast/server";
import * as own from "@holdfast/server";
import type { SenderPlan } from "./server-process.ts";

export type HostRequest =
  | { readonly number: number; readonly start: SenderPlan }
  /** Stops the server that was started with that number. */
  | { readonly number: number; readonly stop: number };
export type HostReply = { readonly number: number; readonly url?: string; readonly error?: string };

const running = new Map<number, RunningServer>();

async function start(number: number, { sources, ...options }: SenderPlan): Promise<string> {
  const { startServer } = (sources === undefined ? own : await import(pathToFileURL(sources).href)) as {
    startServer(options: ServerOptions): Promise<RunningServer>;
  };
  const server = await startServer({ ...options, port: 0 });
  running.set(number, server);
  return server.url;
}

process.on("message", async (request: HostRequest) => {
  const { number } = request;
  try {
    if ("start" in request) process.send?.({ number, url: await start(number, request.start) });
    else {
      await running.get(request.stop)?.close();
      process.send?.({ number });
    }
  } catch (error) {
    process.send?.({ number, error: String(error) });
  }
});
// The parent process has ended.
process.on("disconnect", () => process.exit(1));
