// A receiver of deliveries in a separate process, which misbehaves by order or by its seed. Its plan is in a file.
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { SeededRandom } from "../../support/seeded-random.ts";
import { BEHAVIOURS, type Behaviour, behaviourOf, type Mood, type Scene } from "./behaviour.ts";
import { monotonic, openRecording } from "./recording.ts";

export interface ReceiverPlan {
  readonly folder: string;
  /** The number of earlier starts. */
  readonly generation: number;
  /** 0: any free one. */
  readonly port: number;
  readonly seed: number;
  /** The shortest time between two kills of the senders, or of itself. */
  readonly deathsEveryMs: number;
}

/** An order. The reply has the same number. */
export type Order = { readonly order: number } & (
  | { readonly hook: string; readonly mood: Mood }
  /** The behaviours of the first requests; later ones follow its mood. */
  | { readonly hook: string; readonly script: readonly Behaviour[] }
  | { readonly senders: readonly number[] }
  | { readonly release: string; readonly as: Behaviour }
);

export type Report =
  | { readonly listening: number }
  | { readonly done: number }
  | { readonly held: string; readonly hook: string }
  | { readonly killed: number };

interface Hook {
  mood: Mood;
  script: Behaviour[];
  readonly chance: SeededRandom;
}

const plan = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as ReceiverPlan;
const recording = openRecording(plan.folder, plan.generation);
const hooks = new Map<string, Hook>();
const holding = new Map<string, (as: Behaviour) => void>();
let senders: readonly number[] = [];
let count = 0;
const started = monotonic();
let killed = Number.NEGATIVE_INFINITY;

const nothing = () => {};
const sendReport = (report: Report): void => void process.send?.(report);

function hookOf(name: string): Hook {
  let hook = hooks.get(name);
  if (!hook) {
    const seed = plan.seed + plan.generation * 7_919 + Buffer.from(name).reduce((sum, byte) => sum * 31 + byte, 7);
    hook = { mood: "calm", script: [], chance: new SeededRandom(seed) };
    hooks.set(name, hook);
  }
  return hook;
}

process.on("message", (order: Order) => {
  if ("mood" in order) hookOf(order.hook).mood = order.mood;
  else if ("script" in order) hookOf(order.hook).script = [...order.script];
  else if ("senders" in order) senders = order.senders;
  else {
    holding.get(order.release)?.(order.as);
    holding.delete(order.release);
  }
  sendReport({ done: order.order });
});
// The parent process has ended.
process.on("disconnect", () => process.exit(1));

/** It never closes a connection that the sender keeps open, and never stops reading. */
const server = createServer({
  keepAliveTimeout: 0,
  requestTimeout: 0,
  headersTimeout: 0,
  connectionsCheckingInterval: 3_600_000,
});
server.on("connection", (socket) => socket.on("error", nothing));
server.on("clientError", (_, socket) => socket.destroy());
server.on("request", (request, response) => void receive(request, response));
server.listen({ port: plan.port, host: "127.0.0.1", backlog: 1_024 }, () => {
  const address = server.address();
  sendReport({ listening: typeof address === "object" && address ? address.port : 0 });
});

const header = (request: IncomingMessage, name: string): string => {
  const value = request.headers[name];
  return typeof value === "string" ? value : "";
};

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const arrived = monotonic();
  const socket: Socket = request.socket;
  request.on("error", nothing);
  response.on("error", nothing);
  const [, hookName] = /^\/hooks\/([a-z0-9-]+)(?:\?.*)?$/.exec(request.url ?? "") ?? [];
  if (request.method !== "POST" || hookName === undefined) {
    recording.write({ stray: `${request.method} ${request.url}`, at: arrived });
    response.writeHead(204).end();
    return;
  }
  const name = `r${plan.generation}-${++count}`;
  let over = false;
  const end = (how: "answered" | "closed") => {
    if (over) return;
    over = true;
    socket.off("close", onClose);
    recording.write({ name, ended: monotonic(), how });
  };
  const onClose = () => end("closed");
  // After one more loop iteration, all connections that were closed before this request are known to be closed.
  await turn();
  await turn();
  const hook = hookOf(hookName);
  const behaviour = hook.script.shift() ?? behaviourOf(hook.mood, () => hook.chance.roll());
  recording.write({
    begun: {
      name,
      hook: hookName,
      arrived,
      begun: monotonic(),
      headers: {
        "webhook-id": header(request, "webhook-id"),
        "webhook-timestamp": header(request, "webhook-timestamp"),
        "webhook-signature": header(request, "webhook-signature"),
      },
      behaviour,
    },
  });
  response.on("finish", () => end("answered"));
  response.on("close", onClose);
  socket.on("close", onClose);
  if (socket.destroyed) return end("closed");
  await BEHAVIOURS[behaviour](sceneOf(name, hookName, request, response, hook));
}

function sceneOf(
  name: string,
  hook: string,
  request: IncomingMessage,
  response: ServerResponse,
  { chance }: Hook,
): Scene {
  let reading: Promise<string> | undefined;
  return {
    request,
    response,
    elsewhere: `http://127.0.0.1:${request.socket.localPort}/elsewhere/${hook}`,
    read() {
      reading ??= readAll(request).then((body) => {
        if (body !== undefined) recording.write({ name, body });
        return body ?? "";
      });
      return reading;
    },
    note: (status) => recording.write({ name, status, at: monotonic() }),
    some: (most) => chance.below(most),
    killSenders() {
      const at = monotonic();
      if (at - killed < plan.deathsEveryMs) return;
      killed = at;
      for (const pid of senders)
        try {
          process.kill(pid, "SIGKILL");
        } catch {
          // It had already ended, but this was not recorded yet.
        }
      sendReport({ killed: at });
    },
    die() {
      if (monotonic() - started > plan.deathsEveryMs) process.kill(process.pid, "SIGKILL");
    },
    held: () =>
      new Promise((resolve) => {
        holding.set(name, resolve);
        sendReport({ held: name, hook });
      }),
  };
}

/** Undefined: the sender disconnected before the end. */
function readAll(request: IncomingMessage): Promise<string | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
    request.on("close", () => resolve(undefined));
  });
}
