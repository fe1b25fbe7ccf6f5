import type { FastifyInstance, FastifyRequest } from "fastify";
import type { DatabaseHealth } from "../../../kernel/database-health.ts";
import type { FailedAuthLimiter } from "../../../kernel/limits/failed-auth-limiter.ts";
import type { Readiness } from "../../../kernel/readiness.ts";
import { type Refusal, refuse } from "../../../kernel/refusal.ts";
import type { ClientAddress } from "../../addresses/client-address.ts";
import { PREFIXES } from "../../addresses/request-url.ts";
import { bearsToken } from "../bears-token.ts";
import { sendRefusal } from "../mount.ts";

export interface HealthRoutes {
  /** The service's own database. */
  isReady(): Promise<Readiness>;
  /** The other databases that this process serves. */
  others(): readonly DescribedDatabase[];
  /** Their hosts, by id. */
  hosts(): Promise<ReadonlyMap<string, string>>;
  /** Whose bearer may read names, hosts and reasons. */
  readonly adminToken: string;
  readonly failedAuths: FailedAuthLimiter;
  readonly clientAddress: ClientAddress;
}

export interface DescribedDatabase {
  readonly id: string;
  readonly name: string | null;
  readonly health: DatabaseHealth;
}

/**
 * `/livez` has no dependencies. `/readyz` checks that the database responds and has every migration. With `?verbose` it
 * also says of the other databases how they are; they do not change the status, because other tenants go on.
 */
export function mountHealth(app: FastifyInstance, routes: HealthRoutes): void {
  const isOperator = bearsToken(routes.adminToken);

  /** A stranger reads how many there are. A wrong token counts as a failed authentication. */
  function judge(request: FastifyRequest): "operator" | "stranger" | Refusal {
    if (request.headers.authorization === undefined) return "stranger";
    const address = routes.clientAddress.of(request.raw);
    if (routes.failedAuths.areTooMany(address)) return refuse("rate_limited");
    if (isOperator(request)) return "operator";
    routes.failedAuths.recordFailure(address);
    return refuse("apikey_invalid");
  }

  for (const prefix of PREFIXES) {
    app.get(`${prefix}/livez`, async () => ({ object: "health", status: "live" }));
    app.get(`${prefix}/readyz`, async (request, reply) => {
      const isVerbose = Object.hasOwn(request.query as object, "verbose");
      const reader = isVerbose ? judge(request) : "stranger";
      if (typeof reader === "object") return sendRefusal(reply, reader);
      const { ready, since } = await routes.isReady();
      const others = routes.others();
      const away = others.filter(({ health }) => health.problem !== undefined).length;
      const happened = isVerbose
        ? ` Since ${iso(since)}. Of ${others.length} other databases, ${away} are unavailable.`
        : "";
      if (!ready)
        return sendRefusal(
          reply,
          refuse("unavailable", {
            message: `The database does not answer, accepts no writes, or lacks a migration.${happened}`,
          }),
        );
      const answer = { object: "health", status: "ready" };
      if (!isVerbose) return answer;
      const counted = { ...answer, own: { ok: true, since: iso(since) }, others: { serving: others.length, away } };
      if (reader === "stranger") return counted;
      const hosts = await routes.hosts().catch(() => new Map<string, string>());
      return { ...counted, databases: others.map((one) => described(one, hosts.get(one.id))) };
    });
  }
}

function described({ id, name, health }: DescribedDatabase, host: string | undefined) {
  const { problem, since } = health;
  return {
    ...{ id, name, kind: name === null ? "direct" : "operator", host: host ?? null },
    ...{ ok: since === undefined ? null : problem === undefined, since: since === undefined ? null : iso(since) },
    reason: problem ?? null,
  };
}

const iso = (ms: number): string => new Date(ms).toISOString();
