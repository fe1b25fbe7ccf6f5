import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { createServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { generate } from "selfsigned";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../../scripts/testing/temporary-folder.ts";
import type { Lookup } from "../../kernel/connection/public-lookup.ts";
import type { ReceiverAnswer } from "./rules/delivery-outcome.ts";
import { createWebhookSender, type SenderOptions } from "./send-webhook.ts";

async function listening(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

const open = (options: Partial<SenderOptions> = {}) => {
  const sender = createWebhookSender({ allowPrivate: true, connectMs: 500, requestMs: 1_000, ...options });
  onTestFinished(sender.close);
  return (url: string, signal = new AbortController().signal) =>
    sender.send({ url, id: "msg_1", timestamp: 1, body: Buffer.from('{"data":[]}'), secrets: ["whsec_AAAA"] }, signal);
};
const http = (listener: RequestListener) => listening(createHttpServer(listener));

test("[W3] a name that was public and leads inside now is not connected to", async () => {
  let connections = 0;
  const port = await listening(
    createTcpServer((socket) => {
      connections++;
      socket.destroy();
    }),
  );
  for (const inner of ["127.0.0.1", "10.0.0.1", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1"]) {
    const rebound: Lookup = (_, __, callback) =>
      callback(null, [
        { address: "203.0.114.1", family: 4 },
        { address: inner, family: inner.includes(":") ? 6 : 4 },
      ]);
    const send = open({ allowPrivate: false, lookup: rebound });
    expect(await send(`https://hooks.example:${port}/`)).toMatchObject({ kind: "unanswered", code: "blocked_address" });
  }
  const send = open({ allowPrivate: false });
  for (const host of ["127.0.0.1", "[::1]", "[::ffff:7f00:1]", "localhost", "0x7f.1"])
    expect(await send(`https://${host}:${port}/`)).toMatchObject({ code: "blocked_address" });
  expect(await send(`http://203.0.114.1:${port}/`)).toMatchObject({ code: "blocked_address" });
  expect(connections).toBe(0);
});

test("[W3] a redirect is a plain response, and the server does not follow it", async () => {
  let asked = 0;
  const inner = await http((_, response) => {
    asked++;
    response.end();
  });
  const port = await http((_, response) =>
    response.writeHead(307, { location: `http://127.0.0.1:${inner}/new?token=t` }).end(),
  );
  expect(await open()(`http://127.0.0.1:${port}/`)).toMatchObject({
    ...{ kind: "answered", status: 307 },
    location: `http://127.0.0.1:${inner}/new`,
  });
  expect(asked).toBe(0);
});

test.each([
  ["/new/", "/new/"],
  ["javascript:alert(1)", undefined],
  ["http://[", undefined],
  [undefined, undefined],
])("[W3] a redirect to %s", async (location, path) => {
  const port = await http((_, response) => response.writeHead(302, location === undefined ? {} : { location }).end());
  const answer = await open()(`http://127.0.0.1:${port}/old`);
  expect(answer).toMatchObject({ status: 302, location: path && `http://127.0.0.1:${port}${path}` });
});

test("[W15] 1xx is no answer yet", async () => {
  const port = await http((_, response) => {
    response.writeProcessing();
    setTimeout(() => response.writeHead(204).end(), 20);
  });
  expect(await open()(`http://127.0.0.1:${port}/`)).toMatchObject({ kind: "answered", status: 204 });
});

test.each([
  ["connection_refused", () => "http://127.0.0.1:1/"],
  ["dns_failed", () => "http://no-such-host.invalid/"],
  [
    "connection_lost",
    async () => `http://127.0.0.1:${await listening(createTcpServer((socket) => socket.destroy()))}/`,
  ],
  [
    "invalid_response",
    async () => `http://127.0.0.1:${await listening(createTcpServer((socket) => socket.end("SSH-2.0-x\r\n\r\n")))}/`,
  ],
  ["tls_failed", async () => `https://127.0.0.1:${await http((_, response) => response.end())}/`],
])("[W15] the attempt records the failure: %s", async (code, url) => {
  const answer = await open({ connectMs: 5_000, requestMs: 6_000 })(await url());
  expect(answer).toMatchObject({ kind: "unanswered", code, message: expect.stringMatching(/\w/) });
});

test("[W15] a request without a response times out, and its connection is closed", async () => {
  let closed: () => void = () => {};
  const isClosed = new Promise<void>((resolve) => {
    closed = resolve;
  });
  const port = await listening(
    createTcpServer((socket) =>
      socket
        .on("error", () => {})
        .on("close", closed)
        .resume(),
    ),
  );
  const began = performance.now();
  expect(await open()(`http://127.0.0.1:${port}/`)).toMatchObject({ code: "timeout" });
  expect(performance.now() - began).toBeGreaterThan(990);
  await isClosed;
});

test("[W14] a request that is given up is neither a failure nor a success", async () => {
  const stop = new AbortController();
  const port = await listening(
    createTcpServer((socket) => {
      socket.on("error", () => {}).once("data", () => stop.abort());
    }),
  );
  const send = open();
  expect(await send(`http://127.0.0.1:${port}/`, stop.signal)).toEqual({ kind: "interrupted" });
  expect(await send(`http://127.0.0.1:${port}/`, stop.signal)).toEqual({ kind: "interrupted" });
});

test("[W3] certificates: expired, of another host, signed by an unknown authority", async () => {
  const folder = temporaryFolder("tls", onTestFinished);
  const day = 86_400_000;
  const certificate = (host: string, from: number, to: number) =>
    generate([{ name: "commonName", value: host }], {
      keyType: "ec",
      notBeforeDate: new Date(Date.now() + from * day),
      notAfterDate: new Date(Date.now() + to * day),
      extensions: [
        { name: "basicConstraints", cA: true },
        { name: "subjectAltName", altNames: [{ type: 2, value: host }] },
      ],
    });
  const made = await Promise.all([
    certificate("localhost", -1, 1),
    certificate("localhost", -3, -1),
    certificate("elsewhere.example", -1, 1),
    certificate("localhost", -1, 1),
  ]);
  // The last certificate is signed by an unknown authority.
  const known = join(folder, "known.pem");
  await writeFile(
    known,
    made
      .slice(0, 3)
      .map(({ cert }) => cert)
      .join("\n"),
  );
  const urls = [];
  for (const { cert, private: key } of made) {
    const server = createServer({ cert, key }, (_, response) => response.writeHead(204).end());
    urls.push(`https://localhost:${await listening(server)}/`);
  }
  const script = fileURLToPath(new URL("../../testing/programs/send-once.ts", import.meta.url));
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--conditions=holdfast-source", "--import", "tsx", script, ...urls],
    { env: { PATH: process.env.PATH, NODE_EXTRA_CA_CERTS: known } },
  );
  const answers = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as ReceiverAnswer);
  expect(
    answers.map((answer) => (answer.kind === "answered" ? answer.status : answer.kind === "unanswered" && answer.code)),
  ).toEqual([204, "tls_failed", "tls_failed", "tls_failed"]);
});
