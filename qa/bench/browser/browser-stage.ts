import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BrowserContext, chromium, type Page } from "@playwright/test";
import { build } from "esbuild";
import { browserArguments, ensureChromium } from "../../../scripts/browser.mjs";

/** A real Chromium on a profile of its own on disk: one that is private keeps its databases in memory. */
export interface BrowserStage extends AsyncDisposable {
  readonly context: BrowserContext;
  /** A tab with the page's program in it; `reload()` brings it back. */
  openPage(): Promise<Page>;
}

export async function openBrowser(print: (line: string) => void): Promise<BrowserStage> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("browser-page.ts", import.meta.url))],
    bundle: true,
    minify: true,
    write: false,
    // As apps are built: what the client loads later comes in files, and runs in tasks, of its own.
    format: "esm",
    splitting: true,
    outdir: "/",
    target: "es2022",
    conditions: ["holdfast-source"],
  });
  const scripts = new Map(outputFiles.map(({ path, text }) => [path, text]));
  const site = createServer(({ url = "" }, response) => {
    const script = scripts.get(url);
    response.writeHead(200, { "content-type": script === undefined ? "text/html" : "text/javascript" });
    response.end(script ?? `<!doctype html><title>Bench</title><script type="module" src="/browser-page.js"></script>`);
  }).listen(0, "127.0.0.1");
  await once(site, "listening");
  const profile = await mkdtemp(join(tmpdir(), "holdfast-bench-profile-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: ensureChromium(print),
    args: browserArguments,
  });
  return {
    context,
    async openPage() {
      const page = await context.newPage();
      await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
      return page;
    },
    async [Symbol.asyncDispose]() {
      await context.close();
      site.closeAllConnections();
      site.close();
      await rm(profile, { recursive: true, force: true });
    },
  };
}
