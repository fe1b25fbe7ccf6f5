import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, relative } from "node:path";

const types: Readonly<Record<string, string>> = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".json": "application/json",
  ".md": "text/markdown",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain",
};

export interface FolderServer {
  /** With the base, and a slash at its end. */
  readonly url: string;
  close(): void;
}

/** Serves the files of a folder below `base` to this machine alone, as any host of fixed files does. */
export async function serveFolder(folder: string, { base = "/", port = 0 } = {}): Promise<FolderServer> {
  const server = createServer(async ({ url = "/" }, response) => {
    const file = fileOf(folder, base, url);
    const found = file === undefined ? undefined : await readFile(file).catch(() => undefined);
    const type = types[extname(found ? (file ?? "") : ".html")] ?? "application/octet-stream";
    response.writeHead(found ? 200 : 404, {
      "content-type": /^text|json/.test(type) ? `${type}; charset=utf-8` : type,
      "cache-control": "no-cache",
    });
    response.end(found ?? (await readFile(join(folder, "404.html")).catch(() => "There is no such page.")));
  }).listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${base}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** The file that an address means, unless it leads out of the folder. */
function fileOf(folder: string, base: string, url: string): string | undefined {
  const path = pathOf(url);
  if (!path?.startsWith(base)) return undefined;
  const file = join(folder, path.slice(base.length));
  if (relative(folder, file).startsWith("..")) return undefined;
  return path.endsWith("/") ? join(file, "index.html") : file;
}

function pathOf(url: string): string | undefined {
  try {
    return decodeURIComponent(new URL(url, "http://localhost").pathname);
  } catch {
    // A malformed address is that of no file.
    return undefined;
  }
}
