import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, inject, test } from "vitest";
import { root } from "../../scripts/root.mjs";
import { until } from "../../scripts/testing/until.ts";
import type {} from "./global-setup.ts";
import { startBrowser } from "./newcomer-page.ts";
import { ending, runIn } from "./run-command.ts";

const folder = join(inject("newcomer"), "page");
mkdirSync(folder);
copyFileSync(fileURLToPath(new URL("consumer/app.tsx", import.meta.url)), join(folder, "app.tsx"));
writeFileSync(join(folder, "index.html"), '<main></main><script type="module" src="./app.tsx"></script>');

// Built by Vite without a configuration. The source maps show the modules of each chunk.
const args = [join(root, "node_modules", "vite", "bin", "vite.js"), "build", "--sourcemap", "--logLevel", "warn"];
const built = await ending(runIn(folder, process.execPath, args));

const assets = join(folder, "dist", "assets");
const chunks = readdirSync(assets)
  .filter((name) => name.endsWith(".js"))
  .map((name) => {
    const { sources } = JSON.parse(readFileSync(join(assets, `${name}.map`), "utf8")) as { sources: string[] };
    return { name, text: readFileSync(join(assets, name), "utf8"), sources };
  });
const html = readFileSync(join(folder, "dist", "index.html"), "utf8");
const entry = chunks.find(({ name }) => new RegExp(`<script[^>]*${name}"`).test(html));
/** The chunks that load before any code runs: the first one and its imports. */
const atOnce = chunks.filter(({ name }) => html.includes(name));
const has = (part: string) => chunks.filter(({ sources }) => sources.some((source) => source.includes(part)));

test("[PK4] a page that imports the packed client and hooks builds without warnings", () => {
  // On a slow machine, the bundler reports slow plugins of Vite.
  const aboutTime = /^.*\[PLUGIN_TIMINGS\][\s\S]*?#bundlertimings.*$/m;
  expect({ code: built.code, output: built.output.replace(aboutTime, "").trim() }).toEqual({ code: 0, output: "" });
});

test("[PK4] the first chunk has the client's shell and the hooks, and no code that is loaded later", () => {
  expect(entry?.sources.some((source) => source.includes("@holdfast/react/dist/hooks/use-query.js"))).toBe(true);
  expect(entry?.sources.some((source) => source.includes("@holdfast/sdk/dist/client.js"))).toBe(true);
  const later =
    /node_modules\/(dexie|ky|partysocket)|sdk\/dist\/(browser-runtime\.|runtime\.|api\/claims\/collab\.|storage\/indexeddb\.|transport\/)/;
  expect(atOnce.flatMap(({ sources }) => sources).filter((source) => later.test(source))).toEqual([]);
});

test("[PK4] the database and the runtime are separate chunks", () => {
  const dexie = has("node_modules/dexie/");
  expect(dexie).toHaveLength(1);
  expect(dexie[0]).not.toBe(entry);
  const runtime = has("@holdfast/sdk/dist/browser-runtime.js");
  expect(runtime).toHaveLength(1);
  expect(runtime[0]).not.toBe(dexie[0]);
  expect(entry?.text).toContain(runtime[0]?.name);
  expect(has("@holdfast/sdk/dist/api/claims/collab.js")).toHaveLength(1);
});

test("[PK4] no code of the server or of Node reaches the page", () => {
  expect(has("node_modules/typebox")).toEqual([]);
  expect(has("node_modules/ws/")).toEqual([]);
  expect(has("node_modules/undici/")).toEqual([]);
  expect(has("@holdfast/sdk/dist/node")).toEqual([]);
});

test("[V24] the build has the devtools panel only as a separate chunk, imported on demand", () => {
  const panel = has("react/dist/devtools/panel.js");
  expect(panel).toHaveLength(1);
  expect(atOnce).not.toContain(panel[0]);
  const elsewhere = chunks.filter((chunk) => chunk !== panel[0]);
  const traces = elsewhere
    .flatMap(({ sources }) => sources)
    .filter((source) => source.includes("react/dist/devtools/"));
  expect(traces.filter((source) => !source.endsWith("devtools/index.js"))).toEqual([]);
  expect(elsewhere.filter(({ text }) => text.includes("holdfast-devtools"))).toEqual([]);
});

/** Serves the built page as static files. */
async function serve(): Promise<{ url: string; close(): void }> {
  const types: Record<string, string> = { ".js": "text/javascript", ".html": "text/html", "": "text/html" };
  const server = createServer(({ url = "/" }, response) => {
    const file = join(folder, "dist", url === "/" ? "index.html" : url);
    if (!existsSync(file)) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": types[extname(file)] ?? "text/plain" }).end(readFileSync(file));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close: () => server.close() };
}

test("[PK4] in a browser the page shows a write at once, loads its later chunks, and has the write on disk", async () => {
  const site = await serve();
  try {
    const page = await (await startBrowser()).newPage();
    const faults: string[] = [];
    page.on("pageerror", (error) => faults.push(error.message));
    const loaded: string[] = [];
    page.on("response", (response) => loaded.push(`${response.status()} ${response.url()}`));
    await page.goto(site.url);
    await page.getByRole("button", { name: "Add" }).click();
    await page.getByRole("heading", { name: "0. Hello" }).waitFor();
    const [dexie] = has("node_modules/dexie/");
    await until(() => expect(loaded).toContain(`200 ${site.url}assets/${dexie?.name}`));
    // No server runs at its URL, so rows that appear after a reload come from the disk.
    await page.getByText("on disk").waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "0. Hello" }).waitFor();
    // The panel shares the page's client, so it uses the same module, not a copy.
    await page.getByRole("button", { name: "Look inside" }).click();
    await page.getByRole("tab", { name: "Queue (1)" }).click();
    await page.getByRole("tabpanel").getByText("create slide").waitFor();
    expect(faults).toEqual([]);
  } finally {
    site.close();
  }
});
