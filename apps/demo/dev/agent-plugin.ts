import { type ChildProcess, spawn } from "node:child_process";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Plugin } from "vite";
import { isFromOurPage } from "./our-page.ts";
import type { PageServer } from "./page-server.ts";
import { nodeWords, proofreadProgram } from "./project.ts";
import { sendAnswer } from "./send-answer.ts";

/**
 * `POST /agent?deck=…&for=…` sends the proofreader through a deck, as a process of its own: it finds the server and its token like
 * any agent, and ends when it is through. The response is what it reports, a line of JSON for each step. One at a time for
 * each deck.
 */
export function agentPlugin(): Plugin {
  const running = new Map<string, ChildProcess>();
  const serve = ({ httpServer, middlewares }: PageServer): void => {
    httpServer?.once("close", () => {
      for (const child of running.values()) child.kill("SIGTERM");
    });
    middlewares.use("/agent", (request, response) => {
      const asked = errandOf(request, running);
      if ("deck" in asked) sendAgent(asked, running, response);
      else void sendAnswer(response, Promise.resolve(asked));
    });
  };
  return { name: "holdfast-demo-agent", configureServer: serve, configurePreviewServer: serve };
}

interface Errand {
  readonly deck: string;
  /** For whom, `user:<id>`. */
  readonly person: string | undefined;
}

function errandOf(
  request: IncomingMessage,
  running: ReadonlyMap<string, ChildProcess>,
): Errand | { status: number; body: string } {
  if (request.method !== "POST") return { status: 405, body: "This address answers POST." };
  if (!isFromOurPage(request.headers, request.socket.remoteAddress))
    return { status: 403, body: "The agent is sent by this demo’s own page only." };
  const { searchParams } = new URL(request.url ?? "", "http://page");
  const deck = searchParams.get("deck") ?? "";
  const person = searchParams.get("for") ?? undefined;
  if (!/^[\w.:~-]{1,255}$/.test(deck)) return { status: 400, body: "deck is the id of a deck." };
  if (person !== undefined && !/^user:[\w.~-]{1,200}$/.test(person)) return { status: 400, body: "for is a person." };
  if (running.has(deck)) return { status: 409, body: "The proofreader is at it already." };
  return { deck, person };
}

/** The agent goes on when the page that asked for it is closed. */
function sendAgent({ deck, person }: Errand, running: Map<string, ChildProcess>, response: ServerResponse): void {
  // A test decides how long the agent stays at each slide.
  const pace = process.env.HOLDFAST_TEST_PACE;
  const words = ["--deck", deck, "--json", ...(person ? ["--for", person] : []), ...(pace ? ["--pace", pace] : [])];
  const child = spawn(process.execPath, nodeWords(proofreadProgram, ...words), {
    stdio: ["ignore", "pipe", "inherit"],
  });
  running.set(deck, child);
  response.writeHead(200, { "content-type": "application/x-ndjson", "cache-control": "no-store" });
  response.flushHeaders();
  // Read also when the page is gone: a full pipe would stop the agent.
  child.stdout.on("data", (lines) => {
    if (!response.destroyed) response.write(lines);
  });
  const end = () => {
    running.delete(deck);
    response.end();
  };
  child.once("close", end);
  child.once("error", end);
}
