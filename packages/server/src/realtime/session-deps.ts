import type { DocUrl } from "../envelope/envelope.ts";
import type { FollowClaims } from "../flows/claims/follow-claims.ts";
import type { Waiter } from "../flows/claims/keep-claims.ts";
import type { FollowLog } from "../flows/log/follow-log.ts";
import type { ClientSchemas } from "../flows/schema/client-schemas.ts";
import type { StreamAnswers } from "../flows/stream-answers.ts";
import type { AnswerBytes } from "../limits/answer-bytes.ts";
import type { Limiter } from "../limits/limiter.ts";
import type { Principal } from "../rules/tokens/participant.ts";
import type { ClaimHub } from "./claims/claim-hub.ts";
import type { HandshakeDeps } from "./handshake.ts";
import type { CatchUp } from "./log/catch-up.ts";
import type { Hub } from "./log/hub.ts";
import type { SocketModules } from "./socket-module.ts";

/** What a database publishes of its tenants' logs and claims. */
export interface Followed {
  readonly log: FollowLog;
  readonly hub: Hub;
  readonly catchUp: CatchUp;
  readonly claims: FollowClaims;
  readonly claimHub: ClaimHub;
  readonly clientSchemas: ClientSchemas;
}

export interface SessionDeps extends HandshakeDeps {
  /** Finds what the database of a tenant publishes. Rejects if that database is away. */
  followed(tenant: Principal): Followed | Promise<Followed>;
  /** Bounds how many hellos are processed at once, in fair order. */
  readonly welcomes: Limiter;
  /** A stream was opened, which is a sign of life for the participant's waiting claims. */
  streamOpened(who: Waiter): void;
  readonly modules: readonly SocketModules[];
  readonly answers: AnswerBytes;
  /** Bounds how many pages are in flight to sockets that catch up, for each token and in all. */
  readonly pages: Limiter<string>;
  readonly docUrl: DocUrl;
  /** Answers requests that come on a stream. */
  readonly streamAnswers: StreamAnswers;
  /** Bytes of JSON that a record can have. */
  readonly recordBytes: number;
  now(): number;
}
