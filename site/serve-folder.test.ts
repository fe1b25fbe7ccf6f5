import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FolderServer, serveFolder } from "./serve-folder.ts";

const parent = mkdtempSync(join(tmpdir(), "holdfast-folder-"));
let server: FolderServer;

beforeAll(async () => {
  mkdirSync(join(parent, "site"));
  writeFileSync(join(parent, "site/index.html"), "home");
  writeFileSync(join(parent, "site/a.md"), "# A …");
  writeFileSync(join(parent, "secret.txt"), "secret");
  server = await serveFolder(join(parent, "site"), { base: "/below/" });
});
afterAll(() => {
  server.close();
  rmSync(parent, { recursive: true });
});

/** As it stands: fetch would tidy the path up before it sends it. */
const get = (path: string) =>
  new Promise<{ status: number | undefined; type: string | undefined }>((resolve, reject) => {
    const { hostname, port } = new URL(server.url);
    request({ hostname, port, path }, (response) => {
      response.resume();
      resolve({ status: response.statusCode, type: response.headers["content-type"] });
    })
      .on("error", reject)
      .end();
  });

test("a folder's address is its index.html, and Markdown is served as UTF-8", async () => {
  expect(await get("/below/")).toEqual({ status: 200, type: "text/html; charset=utf-8" });
  expect(await get("/below/a.md")).toEqual({ status: 200, type: "text/markdown; charset=utf-8" });
});

test.each([
  ["/below/b.md"],
  ["/a.md"],
  ["/below/../secret.txt"],
  ["/below/..%2fsecret.txt"],
  ["/below/%E0%A4%A"],
  ["//"],
  ["/below/a.md%00"],
])("%s is not found", async (path) => {
  expect((await get(path)).status).toBe(404);
});
