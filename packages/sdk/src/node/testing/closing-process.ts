import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";

const read = {
  ...{ stamp: 5, logId: "log_1", rowsVersion: 0, models: ["slide"] },
  ...{ owner: "org/live/user/ann", viewHash: "v" },
};
const SNAPSHOT = [
  { object: "snapshot", ...read },
  { object: "snapshot_end", count: 0, next_cursor: null },
]
  .map((line) => `${JSON.stringify(line)}\n`)
  .join("");
const WELCOME = JSON.stringify({ frame: "welcome", ...read, session: "s", participant: "user:ann", resumeFrom: 5 });

export type Upgrade = (accept: () => Promise<WebSocket>, socket: Duplex) => void;

/** Accepts the stream, and greets. */
export const greets: Upgrade = (accept) => void accept().then((socket) => socket.send(WELCOME));

/** Accepts the stream, greets, and reads nothing any more: also no close handshake. */
export const fallsSilent: Upgrade = (accept, socket) =>
  void accept().then((accepted) => {
    accepted.send(WELCOME);
    socket.pause();
  });

/** A server with an empty log that takes the stream as it is told to, and never answers a write. */
async function startServer(upgrade: Upgrade) {
  const webSockets = new WebSocketServer({ noServer: true });
  const sockets = new Set<Duplex>();
  const awaited = new Set(["/v1/stream", "/v1/commits/bulk"]);
  let areUnderWay = () => {};
  /** Both the stream and a write have been asked for. */
  const underWay = new Promise<void>((resolve) => {
    areUnderWay = resolve;
  });
  const note = (path = "") => {
    awaited.delete(path);
    if (awaited.size === 0) areUnderWay();
  };
  const http = createServer((request, response) => {
    note(request.url);
    if (request.url?.startsWith("/v1/snapshot")) response.end(SNAPSHOT);
  });
  http.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    note(request.url);
    sockets.add(socket);
    upgrade(() => new Promise((accepted) => webSockets.handleUpgrade(request, socket, head, accepted)), socket);
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    http.closeAllConnections();
    http.close();
  });
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, underWay };
}

const PROGRAM = `
  import { createClient, defineSchema } from "@holdfast/sdk/node";
  const schema = defineSchema({ models: { slide: { fields: { title: { type: "string" } } } } });
  const client = createClient({ schema, url: process.argv[1], getToken: () => "t" });
  await client.ready();
  client.models.slide.create({ title: "A" });
  // Until the test has seen its requests, and ends this.
  for await (const _ of process.stdin);
  await client.close();
  process.stdout.write("closed");
`;

/**
 * Runs the process of a client that closes while its stream and a write are under way. Returns how long the process stayed
 * after that.
 */
export async function staysFor(upgrade: Upgrade): Promise<number> {
  const { url, underWay } = await startServer(upgrade);
  const child = spawn(
    process.execPath,
    ["--conditions=holdfast-source", "--import", "tsx", "--input-type=module", "-e", PROGRAM, url],
    { cwd: fileURLToPath(new URL("../../..", import.meta.url)), stdio: ["pipe", "pipe", "inherit"] },
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  let printed = "";
  let closedAt = Number.NaN;
  child.stdout.on("data", (text) => {
    printed += text;
    if (printed.endsWith("closed")) closedAt = performance.now();
  });
  const exit = once(child, "exit");
  await underWay;
  child.stdin.end();
  const [code] = await exit;
  expect(printed).toMatch(/closed$/);
  expect(code).toBe(0);
  return performance.now() - closedAt;
}
