import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { type BrowserContext, expect, type Page } from "@playwright/test";
import { build } from "esbuild";
import type { Demo } from "./demo.ts";
import { readLog } from "./log.ts";
import { callThatWrites, isStream, sendsWrites, type Way, watchWrites } from "./sent-writes.ts";

let program: Promise<string> | undefined;

/** The program of tab-program.ts with the SDK in it, as one script. */
export function tabProgram(): Promise<string> {
  program ??= build({
    entryPoints: [fileURLToPath(new URL("tab-program.ts", import.meta.url))],
    bundle: true,
    write: false,
    format: "iife",
    target: "es2022",
    conditions: ["holdfast-source"],
  }).then(({ outputFiles }) => outputFiles[0]?.text ?? "");
  return program;
}

/** A tab of a browser profile with a person's client, but without the board. */
export async function openTab(context: BrowserContext, demo: Demo, person: string): Promise<Page> {
  const page = await context.newPage();
  const listeners = new Set<(way: Way) => void>();
  listenersOf.set(page, listeners);
  watchWrites(page, (way) => {
    for (const listener of listeners) listener(way);
  });
  await page.addInitScript(countTransactions);
  await page.addInitScript(await tabProgram());
  // A real response of the page's server, because Chromium allows no requests to this machine from a mocked one.
  await page.goto(`${demo.pageUrl}/shell.json`);
  await startClient(page, demo, person);
  return page;
}

/** Those of tabs that are told when the tab sends writes. */
const listenersOf = new WeakMap<Page, Set<(way: Way) => void>>();

/** Notifies each time that a tab sends writes. Returns a function that ends this. */
export function onWritesSent(tab: Page, listener: (way: Way) => void): () => void {
  const listeners = listenersOf.get(tab);
  if (!listeners) throw new Error("This page was not opened by `openTab`.");
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

type CountingWindow = typeof window & { openTransactions?: number };

function countTransactions(): void {
  const counting = window as CountingWindow;
  const begin = IDBDatabase.prototype.transaction;
  IDBDatabase.prototype.transaction = function (...words) {
    const transaction = begin.apply(this, words);
    counting.openTransactions = (counting.openTransactions ?? 0) + 1;
    const end = () => {
      counting.openTransactions = (counting.openTransactions ?? 0) - 1;
    };
    transaction.addEventListener("complete", end);
    transaction.addEventListener("abort", end);
    return transaction;
  };
}

/** Also applies to reloaded pages. */
export const startClient = (page: Page, { pageUrl }: Demo, person: string): Promise<void> =>
  page.evaluate(([url, who]) => openClient(url, who), [pageUrl, person] as const);

export const statusIn = (tab: Page) => tab.evaluate(() => client.status());

const pendingIn = async (tab: Page): Promise<number> => (await statusIn(tab)).pending;

/** Writes so many slides and waits until they are on disk. */
export const write = (tab: Page, prefix: string, count: number) =>
  tab.evaluate(
    async ([start, n]) => {
      const writes = Array.from({ length: n }, (_, i) =>
        client.models.slide.create({ title: `${i}` }, { id: `${start}-${i}` }),
      );
      await Promise.all(writes.map(({ queued }) => queued));
    },
    [prefix, count] as const,
  );

/** When a tab next sends writes, in this way or in any. */
const nextSend = (tab: Page, way?: Way): Promise<number> =>
  new Promise((resolve) => {
    const end = onWritesSent(tab, (sentIn) => {
      if (way !== undefined && sentIn !== way) return;
      end();
      resolve(performance.now());
    });
  });

/**
 * Three tabs of a profile that has writes to send. Resolves when the leader has sent the first of them, in this way. It
 * waits for the answer, which never comes: however long the test takes to go on, the others have something to send.
 */
export async function threeTabsThatSend(context: BrowserContext, demo: Demo, prefix: string, count: number, way: Way) {
  const [leader, second, third] = await threeTabs(context, demo);
  await (way === "call" ? callAndLoseReceipts(leader) : requestAndLoseReceipts(leader));
  await context.setOffline(true);
  await write(second, prefix, count);
  const sent = nextSend(leader, way);
  const followed = Promise.any([nextSend(second), nextSend(third)]);
  await context.setOffline(false);
  await sent;
  return { leader, second, third, followed };
}

/** The server gets the tab's writes in requests, and its answers do not arrive. */
async function requestAndLoseReceipts(tab: Page): Promise<void> {
  await tab.route(
    ({ href }) => sendsWrites(href),
    (route) => void route.fetch().catch(() => {}),
  );
  // As of a server of an earlier release, to which nothing can be sent on streams.
  await passFrames(tab, (frame) => JSON.stringify({ ...JSON.parse(frame), calls: undefined }));
}

/** The server gets the tab's writes in calls on its stream, and its answers do not arrive. */
async function callAndLoseReceipts(tab: Page): Promise<void> {
  await tab.route(
    ({ href }) => sendsWrites(href),
    (route) => route.abort(),
  );
  const calls = new Set<number>();
  await passFrames(
    tab,
    (frame) => {
      const { frame: kind, n } = JSON.parse(frame) as { frame: string; n: number };
      return kind === "answer" && calls.has(n) ? undefined : frame;
    },
    (frame) => {
      const n = callThatWrites(frame);
      if (n !== undefined) calls.add(n);
    },
  );
}

/** Changes or drops what comes on the streams that a tab opens from now on. */
function passFrames(
  tab: Page,
  received: (frame: string) => string | undefined,
  onSent: (frame: string) => void = () => {},
): Promise<void> {
  return tab.routeWebSocket(isStream, (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((frame) => {
      onSent(String(frame));
      server.send(frame);
    });
    server.onMessage((frame) => {
      const passed = received(String(frame));
      if (passed !== undefined) socket.send(passed);
    });
  });
}

/** The tab's process is gone: its requests never get a response. */
export async function crash(tab: Page): Promise<void> {
  const session = await tab.context().newCDPSession(tab);
  void session.send("Page.crash").catch(() => {});
}

/** The ids with this prefix, as often as they are in the server's log. */
export const inLog = async (demo: Demo, prefix: string) =>
  (await readLog(demo)).filter(({ id }) => id.startsWith(prefix)).map(({ id }) => id);

export async function eachOnce(demo: Demo, prefix: string, count: number): Promise<void> {
  const ids = Array.from({ length: count }, (_, i) => `${prefix}-${i}`);
  expect((await inLog(demo, prefix)).sort()).toEqual(ids.sort());
}

export const drained = async (...tabs: Page[]) => {
  for (const tab of tabs) await expect.poll(() => pendingIn(tab)).toBe(0);
};

/** Three tabs of one profile; the first of them leads. */
export async function threeTabs(context: BrowserContext, demo: Demo): Promise<[Page, Page, Page]> {
  return [
    await openTab(context, demo, "ada"),
    await openTab(context, demo, "ada"),
    await openTab(context, demo, "ada"),
  ];
}

/**
 * Like a page that the browser freezes: no code runs, the page keeps its locks, and messages to it are queued. It waits for
 * the response to a request, which comes when the returned function is called. It freezes between two transactions: one
 * that a frozen page leaves open keeps the other tabs from the store, until Chromium ends it after a minute.
 */
export async function freeze(tab: Page): Promise<() => Promise<void>> {
  let respond = (): void => {};
  const asked = new Promise<void>((resolve) => {
    void tab.route("**/thaw", async (route) => {
      const answered = new Promise<void>((done) => {
        respond = done;
      });
      resolve();
      await answered;
      await route.fulfill({ body: "" });
    });
  });
  const frozen = tab.evaluate(async () => {
    while ((window as CountingWindow).openTransactions) await new Promise((resolve) => setTimeout(resolve));
    const request = new XMLHttpRequest();
    request.open("GET", "/thaw", false);
    request.send();
  });
  await asked;
  return async () => {
    respond();
    await frozen;
  };
}

/** The tab writes, and another tab sends it. */
export async function sendsNothing(tab: Page, demo: Demo, others: readonly Page[]): Promise<void> {
  let sent = 0;
  const end = onWritesSent(tab, () => {
    sent += 1;
  });
  const prefix = randomUUID();
  await write(tab, prefix, 1);
  await drained(tab, ...others);
  await eachOnce(demo, prefix, 1);
  end();
  expect(sent).toBe(0);
}
