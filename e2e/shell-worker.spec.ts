import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { test as base, expect, type Page } from "@playwright/test";
import { build } from "esbuild";
import type { Shell } from "../packages/sdk/src/vite/worker/shell.ts";

/** The worker of `offlineStart` before a site of a few bytes, whose builds change under it. */
class Site {
  #version = 1;
  #server: Server | undefined;
  #port = 0;
  readonly #worker: string;
  /** The number of requests by path. */
  readonly requests = new Map<string, number>();
  /** The paths that it answers late, or not at all. */
  readonly broken = new Map<string, "missing" | "slow">();

  constructor(worker: string) {
    this.#worker = worker;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/`;
  }

  release(version: number): void {
    this.#version = version;
  }

  async up(): Promise<void> {
    this.#server = createServer((request, response) => {
      const path = request.url ?? "";
      this.requests.set(path, (this.requests.get(path) ?? 0) + 1);
      const found = this.#files()[path.replace(/\?.*/, "")];
      const trouble = this.broken.get(path.replace(/\?.*/, ""));
      if (trouble === "slow") return;
      const [type, text] = trouble ? [] : (found ?? []);
      response.writeHead(text === undefined ? 404 : 200, { "content-type": type ?? "text/html" });
      response.end(text ?? "<!doctype html>nothing");
    }).listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async down(): Promise<void> {
    this.#server?.close();
    this.#server?.closeAllConnections();
    if (this.#server?.listening) await once(this.#server, "close");
  }

  #files(): Record<string, [type: string, text: string]> {
    const n = this.#version;
    const js = "text/javascript";
    const document = `<!doctype html><title>Build ${n}</title><script type="module" src="/assets/app-${n}.js"></script>`;
    const files = [`/assets/app-${n}.js`, `/assets/part-${n}.js`];
    return {
      "/": ["text/html", document],
      "/shell.json": ["application/json", JSON.stringify({ version: `v${n}`, document, files } satisfies Shell)],
      "/shell-worker.js": [js, this.#worker],
      // The part is loaded when it is first used, as parts of the SDK are.
      [`/assets/app-${n}.js`]: [
        js,
        `document.body.append("app ${n}"); window.part = () => import("/assets/part-${n}.js");`,
      ],
      [`/assets/part-${n}.js`]: [js, `export const part = ${n};`],
      "/session": ["application/json", `{"token":"of build ${n}"}`],
      "/v1/log": ["application/json", `{"data":[${n}]}`],
      "/mirror": ["application/json", `{"rows":${n}}`],
    };
  }
}

const test = base.extend<{ site: Site }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads a fixture's needs from this pattern
  site: async ({}, use) => {
    const entryPoints = [fileURLToPath(new URL("../packages/sdk/src/vite/worker/shell-worker.ts", import.meta.url))];
    const define = { __HOLDFAST_FILES__: '"assets/"', __HOLDFAST_ROUTES__: "false" };
    const { outputFiles } = await build({ entryPoints, define, bundle: true, write: false });
    const site = new Site(outputFiles[0]?.text ?? "");
    await site.up();
    await use(site);
    await site.down();
  },
});

const shown = (page: Page) =>
  page.evaluate(async () => ({ title: document.title, text: document.body.textContent?.trim() }));
const part = (page: Page) =>
  page.evaluate(() => (window as unknown as { part(): Promise<{ part: number }> }).part().then((made) => made.part));
/** Opens the page and waits until the worker has finished its background work. */
async function visit(page: Page, site: Site) {
  await page.goto(site.url);
  await page.evaluate(async () => {
    await navigator.serviceWorker.register("/shell-worker.js");
    await navigator.serviceWorker.ready;
  });
}
const kept = (page: Page) =>
  page.evaluate(async () => {
    const names = await caches.keys();
    return Promise.all(
      names.map(async (name) => (await (await caches.open(name)).keys()).map(({ url }) => new URL(url).pathname)),
    );
  });
/** A build that is kept whole: its document was put there last. */
const whole = (build: number) => [`/assets/app-${build}.js`, `/assets/part-${build}.js`, "/"];

test("[Y2] a new build is shown at the next start; each page uses one build, and the previous build stays for its pages", async ({
  context,
  site,
}) => {
  const old = await context.newPage();
  await visit(old, site);
  expect(await kept(old)).toEqual([whole(1)]);

  site.release(2);
  const fresh = await context.newPage();
  await visit(fresh, site);
  expect(await shown(fresh)).toEqual({ title: "Build 2", text: "app 2" });
  await expect.poll(() => kept(fresh)).toEqual([whole(1), whole(2)]);
  // The server has no file of build 1 any more.
  expect(await part(old)).toBe(1);

  await site.down();
  await fresh.reload();
  expect(await shown(fresh)).toEqual({ title: "Build 2", text: "app 2" });
  expect(await part(fresh)).toBe(2);

  // Back to the first build, as after a release that went wrong.
  site.release(1);
  await site.up();
  await fresh.reload();
  expect(await shown(fresh)).toEqual({ title: "Build 1", text: "app 1" });
  await expect.poll(() => kept(fresh)).toEqual([whole(2), whole(1)]);
  await site.down();
  await fresh.reload();
  expect(await shown(fresh)).toEqual({ title: "Build 1", text: "app 1" });
});

test("[Y2] a build that cannot be fetched completely is not cached, and the next start tries again", async ({
  page,
  site,
}) => {
  await visit(page, site);
  site.release(2);
  site.broken.set("/assets/part-2.js", "missing");
  await page.reload();
  expect(await shown(page)).toEqual({ title: "Build 2", text: "app 2" });
  await expect.poll(() => site.requests.get("/assets/part-2.js")).toBe(1);
  await site.down();
  await page.reload();
  expect(await shown(page)).toEqual({ title: "Build 1", text: "app 1" });
  expect(await part(page)).toBe(1);

  site.broken.clear();
  await site.up();
  await page.reload();
  await expect.poll(() => kept(page)).toEqual([whole(1), whole(2)]);
  await site.down();
  await page.reload();
  expect(await part(page)).toBe(2);
});

test("[Y3] tokens, the log and the mirror are never answered from the cache; a page that takes longer than 3 s is", async ({
  page,
  site,
}) => {
  await visit(page, site);
  await page.reload();
  const request = (path: string) =>
    page.evaluate(async (address) => {
      const answer = await fetch(address).catch(() => undefined);
      return answer ? await answer.text() : "no answer";
    }, path);
  for (const [path, before, after] of [
    ["/session", '{"token":"of build 1"}', '{"token":"of build 2"}'],
    ["/v1/log", '{"data":[1]}', '{"data":[2]}'],
    ["/mirror", '{"rows":1}', '{"rows":2}'],
  ] as const) {
    site.release(1);
    expect(await request(path)).toBe(before);
    site.release(2);
    expect(await request(path)).toBe(after);
  }
  site.release(1);
  expect(await kept(page)).toEqual([whole(1)]);

  site.broken.set("/", "slow");
  await page.reload();
  expect(await shown(page)).toEqual({ title: "Build 1", text: "app 1" });
  await site.down();
  for (const path of ["/session", "/v1/log", "/mirror"]) expect(await request(path)).toBe("no answer");
});
