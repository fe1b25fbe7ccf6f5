/*
 *  the page itself    the server's, within 3 s  ──else──►  the newest build that is kept whole
 *  /assets/…          a kept build's            ──else──►  the server's
 *  everything else    not touched: tokens, your own routes, and all of the sync server
 *
 * The document comes first from the network, so that a new build is shown at the next start, and a server that is being
 * worked on is never hidden by what was kept. A document brings only files that are named after their content, and a
 * build is kept whole or not at all; so no page is ever put together from two of them.
 */
import { keepShell, keptDocument, keptFile } from "./kept-shells.ts";

declare const self: ServiceWorkerGlobalScope;
/** The folder of the files whose names change with their content, relative to the worker. Set by the build. */
declare const __HOLDFAST_FILES__: string;
/** Whether the page also answers for the paths below its own. */
declare const __HOLDFAST_ROUTES__: boolean;

const pathOf = (relative: string) => new URL(relative, self.location.href).pathname;
const PAGE = pathOf("./");
const FILES = pathOf(__HOLDFAST_FILES__);

/** The longest wait for a page that is in the cache. */
const DOCUMENT_MS = 3_000;

// Nothing in here belongs to one build: the newest worker may serve pages of all of them, at once.
self.addEventListener("install", (event) => {
  void self.skipWaiting();
  event.waitUntil(keepShell());
});
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== self.location.origin) return;
  if (request.mode === "navigate" && isPage(pathname)) event.respondWith(page(event));
  else if (pathname.startsWith(FILES)) event.respondWith(file(request));
});

/** A path with a dot in its last part is a file, such as a download. */
const isPage = (path: string): boolean =>
  path === PAGE || (__HOLDFAST_ROUTES__ && path.startsWith(PAGE) && !/\.[^/]*$/.test(path));

async function page(event: FetchEvent): Promise<Response> {
  const fresh = fetch(event.request);
  // Also when it comes after the kept one was shown. What cannot be kept now is tried at the next start.
  event.waitUntil(fresh.then((answer) => (answer.ok ? keepShell() : undefined)).catch(() => {}));
  const answer = await Promise.race([fresh.catch(() => undefined), sleep(DOCUMENT_MS)]);
  if (answer?.ok) return answer;
  return (await keptDocument()) ?? fresh;
}

const file = async (request: Request): Promise<Response> => (await keptFile(request)) ?? fetch(request);

const sleep = (ms: number): Promise<undefined> => new Promise((resolve) => setTimeout(resolve, ms));
