import { type ChildProcess, spawn } from "node:child_process";
import type { IncomingMessage } from "node:http";
import type { Plugin } from "vite";
import { isFromOurPage } from "./our-page.ts";
import type { PageServer } from "./page-server.ts";
import { nodeWords, proofreadProgram } from "./project.ts";

/**
 * `POST /agent?deck=…` sends the proofreader through a deck, as a process of its own: it finds the server and its token like
 * any agent, and ends when it is through. One at a time for each deck.
 */
export function agentPlugin(): Plugin {
  const running = new Map<string, ChildProcess>();
  const serve = ({ httpServer, middlewares }: PageServer): void => {
    httpServer?.once("close", () => {
      for (const child of running.values()) child.kill("SIGTERM");
    });
    middlewares.use("/agent", (request, response) => {
      const { status, says } = answer(request, running);
      response.statusCode = status;
      response.setHeader("content-type", "text/plain; charset=utf-8");
      response.end(says);
    });
  };
  return { name: "holdfast-demo-agent", configureServer: serve, configurePreviewServer: serve };
}

function answer(request: IncomingMessage, running: Map<string, ChildProcess>): { status: number; says: string } {
  if (request.method !== "POST") return { status: 405, says: "This address answers POST." };
  if (!isFromOurPage(request.headers, request.socket.remoteAddress))
    return { status: 403, says: "The agent is sent by this demo’s own page only." };
  const deck = new URL(request.url ?? "", "http://page").searchParams.get("deck") ?? "";
  if (!/^[\w.:~-]{1,255}$/.test(deck)) return { status: 400, says: "deck is the id of a deck." };
  if (running.has(deck)) return { status: 409, says: "The proofreader is at it already." };
  // A test decides how long the agent stays at each slide.
  const pace = process.env.HOLDFAST_TEST_PACE;
  const words = ["--deck", deck, ...(pace ? ["--pace", pace] : [])];
  const child = spawn(process.execPath, nodeWords(proofreadProgram, ...words), {
    stdio: ["ignore", "ignore", "inherit"],
  });
  running.set(deck, child);
  child.once("exit", () => running.delete(deck));
  child.once("error", () => running.delete(deck));
  return { status: 202, says: "On its way." };
}
