import { limits } from "@holdfast/sdk/protocol";
import type { FastifyInstance } from "fastify";
import { refuse } from "../../kernel/refusal.ts";
import { nameOf, type Principal } from "../../kernel/tokens/rules/participant.ts";
import type { ModuleDatabase, ServerModule } from "../../server-module.ts";
import { PREFIXES, searchOf } from "../addresses/request-url.ts";
import type { AuthHook } from "./auth-hook.ts";
import { LATE_MS, sendRefusal } from "./mount.ts";

/** The routes of modules that do not come with the server: `/v1/x/<module>/…`. */
export function mountOwnRoutes(
  app: FastifyInstance,
  authHook: AuthHook,
  modules: readonly ServerModule[],
  databaseFor: (principal: Principal) => Promise<ModuleDatabase>,
): void {
  for (const { name, routes = [] } of modules)
    for (const { method, path, audience = "token", handle } of routes)
      for (const prefix of PREFIXES)
        app.route({
          method,
          url: `${prefix}/v1/x/${name}${path}`,
          bodyLimit: limits.bodyBytes,
          onRequest: async (request, reply) => {
            request.cameAt = performance.now();
            request.response = reply.raw;
            const refusal = await authHook.enter(request, reply, { audience });
            if (refusal) return sendRefusal(reply, refusal);
            return undefined;
          },
          handler: async (request, reply) => {
            const ended = performance.now() - request.cameAt > LATE_MS ? await authHook.recheck(request) : undefined;
            if (ended) return sendRefusal(reply, ended);
            const { principal } = request;
            if (!principal) return sendRefusal(reply, refuse("apikey_invalid"));
            const { tenant, organization, livemode } = principal;
            const answer = await handle({
              ...{ tenant, organization, livemode, participant: nameOf(principal) },
              params: request.params as Readonly<Record<string, string>>,
              query: new URLSearchParams(searchOf(request.url)),
              body: request.body,
              db: await databaseFor(principal),
            });
            if ("refusal" in answer) return sendRefusal(reply, refuse(answer.refusal.code, answer.refusal));
            const { status = 200 } = answer;
            if (!Number.isInteger(status) || status < 200 || status > 599)
              throw new Error(`The module "${name}" answered with the status ${status}.`);
            return reply
              .code(status)
              .type("application/json; charset=utf-8")
              .send(JSON.stringify(answer.body ?? null));
          },
        });
}
