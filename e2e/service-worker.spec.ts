import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { createBackend } from "@holdfast/sdk/backend";
import type { BrowserContext } from "@playwright/test";
import { build } from "esbuild";
import { entriesOf } from "./support/log.ts";
import { expect, test } from "./support/test.ts";

/**
 * What the worker does when a page asks it to: it writes a record, and answers with what it then reads, and with the HTTP
 * requests that changed anything.
 */
const program = (entry: string) => `
  import { createClient, defineSchema } from ${JSON.stringify(entry)};
  const schema = defineSchema({ models: { slide: { fields: { title: { type: "string" }, deckId: { type: "string" } } } } });
  addEventListener("activate", (event) => event.waitUntil(clients.claim()));
  addEventListener("message", (event) =>
    event.waitUntil(run(event).catch((error) => event.ports[0].postMessage(String(error)))));
  const changing = [];
  const { fetch } = globalThis;
  globalThis.fetch = (...given) => {
    const request = new Request(...given);
    if (request.method !== "GET") changing.push(request.method + " " + request.url);
    return fetch(request);
  };
  async function run({ data: { url, token, id }, ports: [port] }) {
    const client = createClient({ schema, url, getToken: () => token });
    client.subscribe(() => {
      const { reason } = client.status();
      if (reason) port.postMessage({ reason });
    });
    await client.ready();
    await new Promise((resolve) => {
      const check = () => client.status().live && resolve();
      client.subscribe(check);
      check();
    });
    await client.models.slide.create({ title: "new", deckId: "d1" }, { id }).confirmed;
    const claim = await client.models.slide.claim(id);
    await claim.update({ title: "claimed" }).confirmed;
    await claim.release();
    port.postMessage({ title: client.models.slide.get(id).title, changing });
  }
`;

/** Serves the worker, with \`import()\` as the entry has it, and an empty page. Runs the worker with its order. */
async function askWorker(context: BrowserContext, entry: string, order: object): Promise<unknown> {
  const { outputFiles } = await build({
    stdin: { contents: program(entry), resolveDir: fileURLToPath(new URL(".", import.meta.url)) },
    ...{ bundle: true, splitting: true, write: false, format: "esm", target: "es2022", outdir: "/" },
    conditions: ["holdfast-source"],
  });
  const files = new Map(outputFiles.map(({ path, text }) => [path, text]));
  const site = createServer(({ url = "" }, response) => {
    const text = files.get(url);
    response.writeHead(200, { "content-type": text === undefined ? "text/html" : "text/javascript" });
    response.end(text ?? "<!doctype html>");
  }).listen(0, "127.0.0.1");
  await once(site, "listening");
  const page = await context.newPage();
  await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
  const answer = await page.evaluate(async (asked) => {
    await navigator.serviceWorker.register("/stdin.js", { type: "module" });
    const { active } = await navigator.serviceWorker.ready;
    const { port1, port2 } = new MessageChannel();
    return await new Promise<unknown>((resolve) => {
      port1.onmessage = ({ data }) => resolve(data);
      active?.postMessage(asked, [port2]);
    });
  }, order);
  await page.close();
  site.close();
  site.closeAllConnections();
  return answer;
}

test("[Y31] [N48] a module service worker reads, writes and claims on its stream with the entry for workers; with the usual one it says which to use", async ({
  context,
  demo,
}) => {
  const { serverUrl: url, secretKey: key } = demo;
  const token = await createBackend({ url, key }).tokenFor("ann", { operations: ["slide.*"], wholeOrganization: true });
  const id = "from-a-worker";
  expect(await askWorker(context, "@holdfast/sdk/worker", { url, token, id })).toEqual({
    title: "claimed",
    changing: [],
  });
  expect(await entriesOf(demo, id)).toMatchObject([
    { verb: "created", data: { title: "new" } },
    { verb: "updated", data: { title: "claimed" } },
  ]);
  expect(await askWorker(context, "@holdfast/sdk", { url, token, id })).toEqual({
    reason: expect.stringMatching(/import\(\) is disallowed.* use "@holdfast\/sdk\/worker" in them\./),
  });
});
