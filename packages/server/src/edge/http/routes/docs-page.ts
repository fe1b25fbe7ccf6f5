import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { FastifyInstance } from "fastify";
import { serveFile } from "../docs/serve-file.ts";

/** Allows only own scripts and styles. The renderer embeds its icons as data URLs. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const SCRIPT = "text/javascript; charset=utf-8";
const STYLE = "text/css; charset=utf-8";
const CACHED = "public, max-age=3600";

/** `/docs`: the API reference as a page. Everything it loads is served from here. */
export function mountDocsPage(app: FastifyInstance): void {
  serveFile(app, "/docs", {
    type: "text/html; charset=utf-8",
    body: ownFile("page.html"),
    cacheControl: CACHED,
    contentSecurityPolicy: POLICY,
  });
  for (const [name, type, body] of [
    ["page.js", SCRIPT, ownFile("page.js")],
    ["page.css", STYLE, ownFile("page.css")],
    ["swagger-ui-bundle.js", SCRIPT, renderersFile("swagger-ui-bundle.js")],
    ["swagger-ui.css", STYLE, renderersFile("swagger-ui.css")],
  ] as const)
    serveFile(app, `/docs/assets/${name}`, { type, body, cacheControl: CACHED });
}

const ownFile = (name: string): Buffer => readFileSync(new URL(`../../../../docs-page/${name}`, import.meta.url));

const { resolve } = createRequire(import.meta.url);

const renderersFile = (name: string): Buffer => readFileSync(resolve(`@fastify/swagger-ui/static/${name}`));
