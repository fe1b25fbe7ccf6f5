import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { PREFIXES } from "../../addresses/request-url.ts";

export interface ServedFile {
  readonly type: string;
  readonly body: string | Buffer;
  readonly cacheControl: string;
  /** Set for pages only. */
  readonly contentSecurityPolicy?: string;
}

/** Serves constant bytes on a path, also below `/api`, without authentication. */
export function serveFile(app: FastifyInstance, path: string, file: ServedFile): void {
  const plain = Buffer.from(file.body);
  let packed: Buffer | undefined;
  const etag = etagOf(plain);
  for (const prefix of PREFIXES)
    app.get(prefix + path, (request, reply) => {
      void reply.headers({
        "cache-control": file.cacheControl,
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        vary: [reply.getHeader("vary"), "accept-encoding"].flat().filter(Boolean).join(", "),
        ...(file.contentSecurityPolicy !== undefined && { "content-security-policy": file.contentSecurityPolicy }),
      });
      if (isUnchanged(request, reply, etag)) return reply.code(304).send();
      void reply.type(file.type);
      if (!takesGzip(request.headers["accept-encoding"])) return reply.send(plain);
      packed ??= gzipSync(plain);
      return reply.header("content-encoding", "gzip").send(packed);
    });
}

export const etagOf = (body: string | Buffer): string =>
  `"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;

/** Sets the ETag. Returns true if the client already has this version. */
export function isUnchanged(request: FastifyRequest, reply: FastifyReply, etag: string): boolean {
  void reply.header("etag", etag);
  const known = request.headers["if-none-match"];
  return known?.split(",").some((one) => one.trim().replace(/^W\//, "") === etag || one.trim() === "*") ?? false;
}

const takesGzip = (header: string | string[] | undefined): boolean =>
  /(?:^|,)\s*(?:gzip|\*)\s*(?:;\s*q=(?:1|0\.\d*[1-9]\d*)[^,]*)?\s*(?:,|$)/i.test(String(header ?? ""));
