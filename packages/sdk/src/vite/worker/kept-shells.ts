import { SHELL_ADDRESS, type Shell } from "./shell.ts";

const PREFIX = "holdfast-shell-";
const DOCUMENT = "./";

/** The builds of the page that this browser profile holds whole, oldest first. */
async function keptShells(): Promise<{ name: string; document: Response }[]> {
  const names = (await caches.keys()).filter((name) => name.startsWith(PREFIX));
  const found = await Promise.all(
    names.map(async (name) => ({ name, document: await (await caches.open(name)).match(DOCUMENT) })),
  );
  return found.flatMap(({ name, document }) => (document ? [{ name, document }] : []));
}

/** The document of the newest. */
export const keptDocument = async (): Promise<Response | undefined> => (await keptShells()).at(-1)?.document;

/** A file of any of them: its name says what is in it. */
export const keptFile = (request: Request): Promise<Response | undefined> =>
  caches.match(request, { ignoreVary: true });

let keeping: Promise<void> | undefined;

/** Fetches the server's build, unless it is the one that was kept last. Rejects when it cannot be had whole. */
export function keepShell(): Promise<void> {
  keeping ??= keepNewest().finally(() => {
    keeping = undefined;
  });
  return keeping;
}

async function keepNewest(): Promise<void> {
  const answer = await fetch(SHELL_ADDRESS, { cache: "no-store" });
  // Another server on this address, or a development server: there is nothing to keep.
  if (!answer.ok || !answer.headers.get("content-type")?.includes("json")) return;
  const shell = (await answer.json()) as Shell;
  const name = PREFIX + shell.version;
  const kept = await keptShells();
  if (kept.at(-1)?.name === name) return;

  // Begun anew when it is there by half, or was left for a later one: caches are listed in the order of their making.
  await caches.delete(name);
  const cache = await caches.open(name);
  await cache.addAll(shell.files);
  // Last, because a build counts from the moment in which its document is there.
  await cache.put(DOCUMENT, documentOf(shell));

  // One before stays: a window that still shows it may want a part that it has not loaded yet.
  const stay = new Set([name, kept.at(-1)?.name]);
  const names = (await caches.keys()).filter((other) => other.startsWith(PREFIX) && !stay.has(other));
  await Promise.all(names.map((other) => caches.delete(other)));
}

const documentOf = ({ document }: Shell) =>
  new Response(document, { headers: { "content-type": "text/html; charset=utf-8" } });
