import type { FailedAuthLimiter } from "../../kernel/limits/failed-auth-limiter.ts";
import { isRefusal, type Refusal, refuse } from "../../kernel/refusal.ts";
import type { Authenticator } from "../../kernel/tokens/flows/authenticate.ts";
import { nameOf, type Principal } from "../../kernel/tokens/rules/participant.ts";
import type { SocketPermit } from "./socket-quota.ts";

/** The participant and token of the last hello. After a resync they are kept until the next hello. */
export interface AuthenticatedClient {
  readonly principal: Principal;
  readonly token: string;
  readonly clientId: string | null;
}

/** Authenticates a socket. */
export interface Handshake {
  /** Checks a token. Invalid ones count against the address, and a valid one has a limited number of sockets. */
  authenticate(token: string): Promise<Principal | Refusal>;
  /** Replaces a token before it expires. The new one must belong to the same participant. */
  reauthenticate(before: Principal, token: string): Promise<Principal | Refusal>;
}

export interface HandshakeDeps {
  readonly authenticator: Authenticator;
  readonly failedAuths: FailedAuthLimiter;
}

/** What a session knows about its connection. */
export interface SocketConnection {
  readonly address: string;
  readonly permit: SocketPermit;
  /** Called when the connection has sent a valid token. */
  authenticated(): void;
}

export function handshake(
  { authenticator, failedAuths }: HandshakeDeps,
  { address, permit, authenticated }: SocketConnection,
): Handshake {
  async function authenticate(token: string): Promise<Principal | Refusal> {
    const principal = await authenticator.principalOf(token);
    if (isRefusal(principal)) {
      const tooMany = failedAuths.areTooMany(address);
      failedAuths.recordFailure(address);
      return tooMany ? refuse("rate_limited") : principal;
    }
    authenticated();
    if (!permit.moveTo(principal.tokenId))
      return refuse("rate_limited", { message: "This token has too many open sockets." });
    return principal;
  }

  return {
    authenticate,
    async reauthenticate(before, token) {
      const next = await authenticate(token);
      if (isRefusal(next) || isSameParticipant(next, before)) return next;
      return refuse("apikey_invalid", { message: "The new token belongs to another participant." });
    },
  };
}

const isSameParticipant = (a: Principal, b: Principal): boolean =>
  a.tenant === b.tenant && a.participantKind === b.participantKind && a.participantId === b.participantId;

/** A participant with an open stream, and its device. */
export interface OpenStream {
  readonly tenant: number;
  /** Where the tenant's data are: see participant.ts. */
  readonly database: string | null;
  /** `<kind>:<id>` */
  readonly participant: string;
  readonly clientId: string | null;
}

export const openStreamOf = ({ principal, clientId }: AuthenticatedClient): OpenStream => ({
  tenant: principal.tenant,
  database: principal.database,
  participant: nameOf(principal),
  clientId,
});
