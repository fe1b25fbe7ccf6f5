import type { AnswerBytes } from "../../kernel/limits/answer-bytes.ts";
import type { Limiter } from "../../kernel/limits/limiter.ts";
import type { FollowLog } from "../../kernel/log/flows/follow-log.ts";
import type { ClientSchemas } from "../../kernel/schema/flows/client-schemas.ts";
import type { CatchUp } from "../../kernel/stream/catch-up.ts";
import type { Hub } from "../../kernel/stream/hub.ts";
import type { StreamAnswers } from "../../kernel/stream-answers.ts";
import type { Principal } from "../../kernel/tokens/rules/participant.ts";
import type { DocUrl } from "../envelope/envelope.ts";
import type { HandshakeDeps, OpenStream } from "./handshake.ts";
import type { SocketModules } from "./socket-module.ts";
import type { StreamModules } from "./stream-module.ts";

/** What a database publishes of its tenants' logs, and what its modules do on streams. */
export interface PublishedLogs {
  readonly log: FollowLog;
  readonly hub: Hub;
  readonly catchUp: CatchUp;
  readonly clientSchemas: ClientSchemas;
  readonly modules: readonly StreamModules[];
}

export interface SessionDeps extends HandshakeDeps {
  /** Finds what the database of a tenant publishes. Rejects if that database is away. */
  followed(tenant: Principal): PublishedLogs | Promise<PublishedLogs>;
  /** Bounds how many hellos are processed at once, in fair order. */
  readonly welcomes: Limiter;
  /** A stream was opened, which is a sign of life of its participant. */
  streamOpened(who: OpenStream): void;
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
