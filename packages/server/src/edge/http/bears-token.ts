import { timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { bearerToken } from "../../kernel/tokens/flows/authenticate.ts";
import { tokenHash } from "../../kernel/tokens/flows/secret-keys.ts";

/** Whether a request has exactly this token. Takes the same time for each. */
export function bearsToken(token: string): (request: FastifyRequest) => boolean {
  const wanted = tokenHash(token);
  return ({ headers: { authorization } }) => timingSafeEqual(tokenHash(bearerToken(authorization) ?? ""), wanted);
}
