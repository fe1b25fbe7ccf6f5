import type { FastifyInstance, FastifyRequest } from "fastify";
import type { FailedAuthLimiter } from "../../../kernel/limits/failed-auth-limiter.ts";
import { type Refusal, refuse } from "../../../kernel/refusal.ts";
import type { ClientAddress } from "../../addresses/client-address.ts";
import { PREFIXES } from "../../addresses/request-url.ts";
import { isFromThisMachine } from "../../addresses/this-machine.ts";
import { PROMETHEUS_TYPE } from "../../metrics/prometheus.ts";
import { bearsToken } from "../bears-token.ts";
import { sendRefusal } from "../mount.ts";

export interface MetricsRoute {
  /** Required from readers. Undefined: only programs on this machine may read, if `loopback` allows it. */
  readonly token: string | undefined;
  readonly loopback: boolean;
  readonly failedAuths: FailedAuthLimiter;
  readonly clientAddress: ClientAddress;
  text(): Promise<string>;
}

/** `/metrics`: the figures of this process for monitoring. */
export function mountMetrics(
  app: FastifyInstance,
  { token, loopback, failedAuths, clientAddress, text }: MetricsRoute,
): void {
  const isAllowed = token !== undefined ? bearsToken(token) : loopback ? isOurMachines : () => false;

  function judge(request: FastifyRequest): Refusal | undefined {
    if (isAllowed(request)) return undefined;
    const address = clientAddress.of(request.raw);
    if (failedAuths.areTooMany(address)) return refuse("rate_limited");
    failedAuths.recordFailure(address);
    if (token === undefined)
      return refuse("auth_no_credentials", { message: loopback ? FOR_THIS_MACHINE : SWITCHED_OFF });
    return refuse(request.headers.authorization === undefined ? "auth_no_credentials" : "apikey_invalid");
  }

  for (const prefix of PREFIXES)
    app.get(`${prefix}/metrics`, async (request, reply) => {
      const refusal = judge(request);
      if (refusal) return sendRefusal(reply, refusal);
      return reply
        .type(PROMETHEUS_TYPE)
        .header("cache-control", "no-store")
        .send(await text());
    });
}

const FOR_THIS_MACHINE =
  "Metrics are available on this machine only. Set HOLDFAST_METRICS_TOKEN to read them from elsewhere.";
const SWITCHED_OFF = "Metrics are off: set HOLDFAST_METRICS_TOKEN, or HOLDFAST_METRICS_LOOPBACK=1.";

const isOurMachines = ({ raw }: FastifyRequest): boolean => isFromThisMachine(raw);
