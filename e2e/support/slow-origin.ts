import { once } from "node:events";
import { createServer, request as forward, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { Transform } from "node:stream";
import { endTogether } from "../../scripts/testing/end-together.ts";
import type { Demo } from "./demo.ts";
import { tabProgram } from "./tabs.ts";

/** An origin that is not secure and not on this machine, as far as a browser knows, with the service behind it. */
export interface SlowOrigin {
  readonly url: string;
  /** Sends the name of the origin's host to this machine. */
  readonly browserArguments: readonly string[];
  close(): Promise<void>;
}

const HOST = "app.test";

/** The delay in each direction. */
export async function slowOrigin(demo: Demo, delayMs: number): Promise<SlowOrigin> {
  const server = new URL(demo.serverUrl);
  const site = createServer((request, response) => {
    const { url = "/", method, headers } = request;
    if (url === "/") return void tabProgram().then((program) => response.end(`<script>${program}</script>`));
    if (url.startsWith("/session"))
      return void tokenFor(demo, new URL(url, origin).searchParams.get("person") ?? "").then((token) =>
        response.end(JSON.stringify({ url: origin, token })),
      );
    const { origin: _, ...others } = headers;
    const forwarded = forward(
      { host: server.hostname, port: server.port, method, path: url, headers: { ...others, host: server.host } },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(delayed(delayMs)).pipe(response);
      },
    );
    forwarded.on("error", () => response.destroy());
    request.pipe(delayed(delayMs)).pipe(forwarded);
  });
  site
    .on("upgrade", (request: IncomingMessage, browser, head) => {
      const socket = connect(Number(server.port), server.hostname);
      const { origin: _, ...headers } = request.headers;
      const lines = Object.entries({ ...headers, host: server.host }).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`GET ${request.url} HTTP/1.1\r\n${lines.join("")}\r\n`);
      socket.write(head);
      browser.pipe(delayed(delayMs)).pipe(socket);
      socket.pipe(delayed(delayMs)).pipe(browser);
      endTogether(browser, socket);
    })
    .listen(0, "127.0.0.1");
  await once(site, "listening");
  const origin = `http://${HOST}:${(site.address() as AddressInfo).port}`;
  return {
    url: origin,
    browserArguments: [`--host-resolver-rules=MAP ${HOST} 127.0.0.1`],
    async close() {
      site.closeAllConnections();
      site.close();
    },
  };
}

/** A person's token, as the backend of this origin would give it: the demo gives its own to pages of its own only. */
async function tokenFor({ serverUrl, secretKey }: Demo, person: string): Promise<string> {
  const headers = { authorization: `Bearer ${secretKey}`, "content-type": "application/json" };
  const send = async (path: string, body?: object) => {
    const wanted = body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers };
    return (await (await fetch(`${serverUrl}${path}`, wanted)).json()) as { organization: string; token: string };
  };
  const { organization } = await send("/v1/identity");
  const operations = ["slide.*", "document.read", "ingestionjob.read"];
  const { token } = await send("/v1/ephemeral_keys", {
    user: { id: person },
    operations,
    syncGroups: [`org:${organization}`],
  });
  return token;
}

/** Passes everything on, in order, that much later. */
function delayed(ms: number): Transform {
  let last: Promise<unknown> = Promise.resolve();
  const later = (what: () => void) => {
    const due = new Promise((resolve) => setTimeout(resolve, ms));
    last = last.then(() => due).then(what);
  };
  return new Transform({
    transform(chunk, _, done) {
      later(() => this.push(chunk));
      done();
    },
    flush(done) {
      later(() => done());
    },
  });
}
