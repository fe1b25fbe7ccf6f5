// A receiver of webhooks: keeps a copy of every record in an SQLite database of its own.
import { mkdir } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createWebhookHandler } from "@holdfast/sdk/webhooks";
import { callServer } from "../dev/call-server.ts";
import { readDemoFile } from "../dev/demo-file.ts";
import { dataDirectory } from "../dev/project.ts";
import { secretKey } from "../dev/server-secrets.ts";
import { openMirror } from "./mirror-database.ts";
import { readKept, register } from "./register.ts";
import type { MirrorOrder, MirrorState } from "./words.ts";

const folder = join(dataDirectory(), "mirror");
const PATH = "/webhooks";

async function main(): Promise<void> {
  const { serverUrl } = await readDemoFile();
  if (!serverUrl) throw new Error("There is no server to mirror. Start the demo with npm start.");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, "endpoint.json");
  const kept = await readKept(file);

  // It listens before it registers: what is delivered before it is ready comes again.
  let receive: RequestListener = (_, response) => void response.writeHead(503, { "retry-after": "1" }).end();
  const server = createServer((request, response) => {
    if (request.url === PATH) receive(request, response);
    else response.writeHead(404).end();
  });
  const port = await listen(server, kept ? Number(new URL(kept.url).port) : 0);

  const key = await secretKey();
  const { logId } = await callServer<{ logId: string }>(serverUrl, key, "GET", "/v1/identity");
  const mirror = openMirror(join(folder, "mirror.db"), logId);
  const { id, secret } = await register({
    serverUrl,
    secretKey: key,
    file,
    name: `The demo's mirror in ${folder}`,
    url: `http://127.0.0.1:${port}${PATH}`,
    position: mirror.position(),
  });

  let isFailing = false;
  const tell = atMostEvery(100, () => {
    const state: MirrorState = { endpointId: id, rows: mirror.count(), isFailing };
    if (process.connected) process.send?.(state);
  });
  const handler = createWebhookHandler({
    secret,
    onEvent: (event, delivery) => {
      // What the restore lost is still in the copy: the next start makes it anew.
      if (delivery.logId !== logId) throw new Error("The server has another log. Start the mirror again.");
      if (isFailing) throw new Error("The mirror is set to fail.");
      mirror.apply(event);
      tell();
    },
    // Written with the record, in one transaction.
    store: { read: () => ({ syncId: mirror.position(), logId }), write: () => {} },
    onError: (error) => print(`Not accepted: ${error instanceof Error ? error.message : error}`),
  });
  receive = (request, response) => void handler.node(request, response);
  process.on("message", (order: MirrorOrder) => {
    isFailing = order.isFailing;
    print(isFailing ? "Failing, as set." : "Working again.");
    tell();
  });
  // Whatever is not in the copy by now comes again.
  process.once("SIGTERM", () => {
    mirror.close();
    process.exit(0);
  });
  print(`Mirroring ${serverUrl} from position ${mirror.position()}.`);
  tell();
}

/** On the port it had before, if that is free: then nothing has to be changed on the server. */
function listen(server: ReturnType<typeof createServer>, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      error.code === "EADDRINUSE" && port !== 0 ? resolve(listen(server, 0)) : reject(error),
    );
    server.listen(port, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

/** Bundles what comes close together: many events may be applied in a moment. */
function atMostEvery(ms: number, act: () => void): () => void {
  let isDue = false;
  return () => {
    if (isDue) return;
    isDue = true;
    setTimeout(() => {
      isDue = false;
      act();
    }, ms);
  };
}

const print = (line: string): void => void process.stderr.write(`${new Date().toISOString()} ${line}\n`);

main().catch((error: unknown) => {
  print(error instanceof Error ? error.message : String(error));
  process.exit(1);
});
