import type { EndpointSchema } from "@holdfast/sdk/protocol";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { ConnectionQuota } from "../../kernel/limits/connection-quota.ts";
import type { FailedAuthLimiter } from "../../kernel/limits/failed-auth-limiter.ts";
import { isRefusal, type Refusal, refuse } from "../../kernel/refusal.ts";
import { type Authenticator, bearerToken } from "../../kernel/tokens/flows/authenticate.ts";
import type { Principal } from "../../kernel/tokens/rules/participant.ts";
import { prefixOf } from "../../kernel/tokens/rules/token.ts";
import type { ClientAddress } from "../addresses/client-address.ts";
import { searchOf } from "../addresses/request-url.ts";
import { statusOf } from "../envelope/envelope.ts";
import type { Traffic } from "./traffic.ts";
import { whenEnded } from "./when-ended.ts";

/** Checks the token of every request before its route runs. */
export interface AuthHook {
  /**
   * Sets the request's principal (the operator has none) or returns a refusal. Returns a promise only if the token has
   * to be looked up.
   */
  enter(
    request: FastifyRequest,
    reply: FastifyReply,
    endpoint: Pick<EndpointSchema, "audience" | "query">,
  ): Refusal | undefined | Promise<Refusal | undefined>;
  /** For a request that has waited: whether its token has ended meanwhile. */
  recheck(request: FastifyRequest): Promise<Refusal | undefined>;
}

export interface AuthHookDeps {
  readonly authenticator: Authenticator;
  readonly clientAddress: ClientAddress;
  readonly quota: ConnectionQuota;
  readonly failedAuths: FailedAuthLimiter;
  readonly traffic: Traffic;
}

export function createAuthHook({ authenticator, clientAddress, quota, failedAuths, traffic }: AuthHookDeps): AuthHook {
  const enter: AuthHook["enter"] = (request, reply, endpoint) => {
    const { authorization } = request.headers;
    const token = bearerToken(authorization);
    if (token === undefined)
      return rejectUpgrade(
        request,
        reply,
        refuse(authorization === undefined ? "auth_no_credentials" : "apikey_invalid"),
      );
    if (endpoint.audience === "operator" && authenticator.isOperator(token)) return undefined;
    const admit = (principal: Principal | Refusal) => {
      if (isRefusal(principal))
        return statusOf(principal) === 401 ? rejectUpgrade(request, reply, principal) : principal;
      quota.authenticated(request.socket);
      return letIn(request, reply, endpoint, principal, token);
    };
    const found = authenticator.principalOf(token);
    return found instanceof Promise ? found.then(admit) : admit(found);
  };

  /** Check every token, even after failures from the same address: many users may share one. */
  function rejectUpgrade(request: FastifyRequest, reply: FastifyReply, refusal: Refusal): Refusal {
    const address = clientAddress.of(request.raw);
    const tooMany = failedAuths.areTooMany(address);
    failedAuths.recordFailure(address);
    if (quota.rejected(request.socket)) void reply.header("connection", "close");
    return tooMany ? refuse("rate_limited", TOO_OFTEN) : refusal;
  }

  function letIn(
    request: FastifyRequest,
    reply: FastifyReply,
    { audience, query }: Pick<EndpointSchema, "audience" | "query">,
    principal: Principal,
    token: string,
  ): ReturnType<Traffic> {
    if (audience === "operator") return refuse("admin_required");
    if (audience === "secret_key" && principal.tokenKind !== "secret_key") return refuse("secret_key_required");
    request.principal = principal;
    return traffic({
      ...{ tokenId: principal.tokenId, prefix: prefixOf(token), longPoll: isLongPoll(query, searchOf(request.url)) },
      whenEnded: (then) => whenEnded(reply.raw, then),
      told: (left) => void reply.headers(left),
    });
  }

  return {
    enter,
    async recheck({ principal, headers: { authorization } }) {
      const token = principal && bearerToken(authorization);
      const found = token === undefined ? undefined : await authenticator.principalOf(token);
      return found && isRefusal(found) ? found : undefined;
    },
  };
}

/** Whether a request waits for something to happen. */
export const isLongPoll = (query: EndpointSchema["query"], search: string): boolean =>
  query !== undefined && "wait" in query && WAITS.test(search);

const WAITS = /(?:^|&)wait=0*[1-9]/;
const TOO_OFTEN = { message: "This address has sent too many requests without a valid token." };
