import type { FastifyInstance } from "fastify";
import { ERRORS_POLICY, errorsHtml } from "../docs/errors-html.ts";
import { serveFile } from "../docs/serve-file.ts";

/** `/docs/errors`: the target of each error's `doc_url`. */
export function mountErrorsPage(app: FastifyInstance): void {
  serveFile(app, "/docs/errors", {
    type: "text/html; charset=utf-8",
    body: errorsHtml(),
    cacheControl: "public, max-age=3600",
    contentSecurityPolicy: ERRORS_POLICY,
  });
}
