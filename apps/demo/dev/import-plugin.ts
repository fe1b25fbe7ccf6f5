import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { basename, join } from "node:path";
import type { Plugin } from "vite";
import { LARGEST_FILE, readPlan } from "../agent/read-plan.ts";
import { isFromOurPage } from "./our-page.ts";
import type { PageServer } from "./page-server.ts";
import { dataDirectory, importProgram, nodeWords } from "./project.ts";
import { type Answer, sendAnswer } from "./send-answer.ts";

/**
 * `POST /import?name=notes.md` (and `&copy=2` for one more deck of the same file) hands a file that was dropped on the page to the import agent, a process of its own, and
 * answers with the deck that it will be.
 */
export function importPlugin(): Plugin {
  const running = new Map<string, ChildProcess | undefined>();
  const serve = ({ httpServer, middlewares }: PageServer): void => {
    httpServer?.once("close", () => {
      for (const child of running.values()) child?.kill("SIGTERM");
    });
    middlewares.use("/import", (request, response) => {
      void sendAnswer(response, answer(request, running));
    });
  };
  return { name: "holdfast-demo-import", configureServer: serve, configurePreviewServer: serve };
}

async function answer(request: IncomingMessage, running: Map<string, ChildProcess | undefined>): Promise<Answer> {
  if (request.method !== "POST") return { status: 405, body: "This address answers POST." };
  if (!isFromOurPage(request.headers, request.socket.remoteAddress))
    return { status: 403, body: "Files are taken from this demo’s own page only." };
  const query = new URL(request.url ?? "", "http://page").searchParams;
  const asked = query.get("name") ?? "";
  const copy = query.get("copy") ?? "1";
  if (!/^[1-9]\d{0,3}$/.test(copy)) return { status: 400, body: "copy is a number from 1 to 9999." };
  // Of a path the name alone, whichever system it comes from.
  const name = basename(asked.replaceAll("\\", "/")).slice(0, 200) || "file.md";
  const bytes = await bodyOf(request);
  if (!bytes) return { status: 413, body: `${name} is larger than ${LARGEST_FILE / 1000} kB. Cut it into parts.` };
  let deck: string;
  try {
    deck = readPlan(name, bytes, Number(copy)).document.id;
  } catch (error) {
    return { status: 400, body: error instanceof Error ? error.message : String(error) };
  }
  if (running.has(deck)) return { status: 202, body: { deck } };
  // Taken at once: the same file may be dropped on another window before the agent has begun.
  running.set(deck, undefined);
  const ended = () => void running.delete(deck);
  try {
    running.set(deck, await sendAgent(deck, name, bytes, copy, ended));
  } catch (error) {
    ended();
    throw error;
  }
  return { status: 202, body: { deck } };
}

async function bodyOf(request: IncomingMessage): Promise<Uint8Array | undefined> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length;
    // Read to its end all the same, so that the answer is heard.
    if (length <= LARGEST_FILE) parts.push(part);
  }
  return length > LARGEST_FILE ? undefined : Buffer.concat(parts);
}

/** The agent reads a file, as it does from the terminal; this one is gone when it has ended. */
async function sendAgent(
  deck: string,
  name: string,
  bytes: Uint8Array,
  copy: string,
  ended: () => void,
): Promise<ChildProcess> {
  const folder = join(dataDirectory(), "imports", deck);
  const file = join(folder, name);
  await mkdir(folder, { recursive: true });
  await writeFile(file, bytes);
  const child = spawn(process.execPath, nodeWords(importProgram, file, "--copy", copy), {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const end = () => {
    ended();
    void rm(folder, { recursive: true, force: true });
  };
  child.once("exit", end);
  child.once("error", end);
  return child;
}
