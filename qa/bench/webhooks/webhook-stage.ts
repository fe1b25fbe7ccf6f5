import { setTimeout as pause } from "node:timers/promises";
import { askJson } from "../../../scripts/testing/ask-json.ts";
import { endProgram, firstLine, startProgram } from "../stage/processes.ts";
import type { ServerReady } from "../stage/server.ts";
import type { RunningProgram } from "../stage/stage.ts";
import type { Arrived, ReceiverPlan } from "./webhook-receiver.ts";

export type Server = RunningProgram & ServerReady;

export const ENDPOINTS = 20;

export interface Receiver extends AsyncDisposable {
  readonly url: string;
  request(path: string): Promise<readonly Arrived[]>;
  until(isSo: (arrived: readonly Arrived[]) => boolean, path?: string): Promise<readonly Arrived[]>;
}

const PATIENCE_MS = 120_000;

export async function startReceiver(plan: ReceiverPlan): Promise<Receiver> {
  const child = startProgram(new URL("webhook-receiver.ts", import.meta.url), [JSON.stringify(plan)]);
  const { url } = await firstLine<{ url: string }>(child);
  const request = async (path: string) => (await (await fetch(url + path)).json()) as readonly Arrived[];
  return {
    url,
    request,
    async until(isSo, path = "/counts") {
      const end = performance.now() + PATIENCE_MS;
      for (;;) {
        const arrived = await request(path);
        if (isSo(arrived)) return arrived;
        if (performance.now() > end) throw new Error("Not everything arrived.");
        await pause(20);
      }
    },
    [Symbol.asyncDispose]: () => endProgram(child),
  };
}

export const register = async (server: Server, url: string, from?: number): Promise<string> =>
  (await call<{ id: string }>(server, "POST", "/v1/webhook_endpoints", { url, ...(from !== undefined && { from }) }))
    .id;

export const call = <T>({ url, tokens }: ServerReady, method: string, path: string, body?: object): Promise<T> =>
  askJson(url + path, tokens[0] as string, method, body);
