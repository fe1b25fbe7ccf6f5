import type { Model } from "@holdfast/sdk/protocol";
import type { FastifyInstance } from "fastify";
import type { Principal } from "../../../kernel/tokens/rules/participant.ts";
import type { PublicUrl } from "../../addresses/public-url.ts";
import { PREFIXES } from "../../addresses/request-url.ts";
import type { AuthHook } from "../auth-hook.ts";
import { etagOf, isUnchanged } from "../docs/serve-file.ts";
import { sendRefusal } from "../mount.ts";
import { openApi } from "../openapi/document.ts";

/** The models of a tenant, and their schema version. */
export interface PushedModels {
  readonly version: number;
  readonly models: Readonly<Record<string, Model>>;
}

/** Cached descriptions. Those of other tenants are generated for each request. */
const MOST_KEPT = 100;

/** `/openapi.json`: public and generic over `{model}`; with a token, it also has the models of its tenant. */
export function mountOpenApi(
  app: FastifyInstance,
  publicUrl: PublicUrl,
  authHook: AuthHook,
  modelsOf: (principal: Principal) => Promise<PushedModels>,
): void {
  let generic: Description | undefined;
  const kept = new Map<number, Description & { readonly version: number }>();

  function ofNobody(): Description {
    generic ??= described(JSON.stringify(openApi(publicUrl)));
    return generic;
  }

  function ofTenant(tenant: number, { version, models }: PushedModels): Description {
    const known = kept.get(tenant);
    if (known?.version === version) return known;
    const made = { version, ...described(JSON.stringify(openApi(publicUrl, models))) };
    kept.delete(tenant);
    if (kept.size >= MOST_KEPT) kept.delete(kept.keys().next().value as number);
    kept.set(tenant, made);
    return made;
  }

  for (const prefix of PREFIXES)
    app.get(`${prefix}/openapi.json`, async (request, reply) => {
      const withToken = request.headers.authorization !== undefined;
      const refusal = withToken ? await authHook.enter(request, reply, { audience: "token" }) : undefined;
      if (refusal) return sendRefusal(reply, refusal);
      const pushed = request.principal && (await modelsOf(request.principal));
      const { text, etag } = pushed ? ofTenant(request.principal?.tenant as number, pushed) : ofNobody();
      void reply.headers({
        "cache-control": pushed ? "private, no-cache" : "public, no-cache",
        vary: [reply.getHeader("vary"), "authorization"].flat().filter(Boolean).join(", "),
      });
      if (isUnchanged(request, reply, etag)) return reply.code(304).send();
      return reply.type("application/json; charset=utf-8").send(text);
    });
}

interface Description {
  readonly text: string;
  readonly etag: string;
}

const described = (text: string): Description => ({ text, etag: etagOf(text) });
