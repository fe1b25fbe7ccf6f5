import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

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

type Upgrade = (accept: () => Promise<WebSocket>, socket: Duplex) => void;

/** A server with an empty log that never answers a write; the test decides how it treats the stream. */
async function server(upgrade: Upgrade) {
  const sockets = new WebSocketServer({ noServer: true });
  const requests: string[] = [];
  const http = createServer((request, response) => {
    requests.push(request.url ?? "");
    if (request.url?.startsWith("/v1/snapshot")) response.end(SNAPSHOT);
  });
  http.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    requests.push(request.url ?? "");
    closing.push(() => socket.destroy());
    upgrade(() => new Promise((accepted) => sockets.handleUpgrade(request, socket, head, accepted)), socket);
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  closing.push(() => {
    http.closeAllConnections();
    http.close();
  });
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, requests };
}

const PROGRAM = `
  import { createClient, defineSchema } from "@holdfast/sdk/node";
  const schema = defineSchema({ models: { slide: { fields: { title: { type: "string" } } } } });
  const client = createClient({ schema, url: process.argv[1], getToken: () => "t" });
  await client.ready();
  client.models.slide.create({ title: "A" });
  await new Promise((resolve) => setTimeout(resolve, 500));
  await client.close();
  process.stdout.write("closed");
`;

/** How long the process of a client stays after it was closed. */
async function staysFor(url: string): Promise<number> {
  const child = spawn(
    process.execPath,
    ["--conditions=holdfast-source", "--import", "tsx", "--input-type=module", "-e", PROGRAM, url],
    { cwd: fileURLToPath(new URL("../..", import.meta.url)), stdio: ["ignore", "pipe", "inherit"] },
  );
  closing.push(() => void child.kill("SIGKILL"));
  let printed = "";
  let closedAt = Number.NaN;
  child.stdout.on("data", (text) => {
    printed += text;
    if (printed.endsWith("closed")) closedAt = performance.now();
  });
  const [code] = await once(child, "exit");
  expect(printed).toMatch(/closed$/);
  expect(code).toBe(0);
  return performance.now() - closedAt;
}

/** More than a busy machine needs, and less than the 30 s that `ws` waits for a close handshake. */
const SOON_MS = 8_000;

test.each<[string, Upgrade]>([
  ["is live", (accept) => void accept().then((socket) => socket.send(WELCOME))],
  ["is never answered", () => {}],
  ["is refused", (_, socket) => void socket.end("HTTP/1.1 503 Service Unavailable\r\n\r\n")],
  [
    "has fallen silent, and does not answer the close handshake",
    (accept, socket) =>
      void accept().then((accepted) => {
        accepted.send(WELCOME);
        socket.pause();
      }),
  ],
])("[N8] a process ends by itself after close while its stream %s", async (_, upgrade) => {
  const { url, requests } = await server(upgrade);
  expect(await staysFor(url)).toBeLessThan(SOON_MS);
  expect(requests).toContain("/v1/stream");
  expect(requests).toContain("/v1/commits/bulk");
});
