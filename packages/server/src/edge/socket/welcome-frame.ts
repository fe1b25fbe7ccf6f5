import { limits, type ResyncReason, STREAM_PROTOCOL, type Welcome } from "@holdfast/sdk/protocol";
import { viewHashOf } from "../../kernel/log/flows/view-hash.ts";
import type { SpokenSchema } from "../../kernel/schema/flows/client-schemas.ts";
import type { LiveSchema } from "../../kernel/schema/flows/schema-cache.ts";
import { nameOf, ownerName, type Principal } from "../../kernel/tokens/rules/participant.ts";

/** The head of a log, when a client is welcomed. */
export interface WelcomedAt {
  readonly logId: string;
  readonly syncId: number;
  readonly trimmedTo: number;
}

/** What a client says of the rows that it has. */
export interface SaidRows {
  readonly log?: string | undefined;
  readonly since?: number | undefined;
  readonly view?: string | undefined;
}

export interface WelcomeFacts {
  readonly session: string;
  readonly principal: Principal;
  readonly models: readonly string[];
  readonly head: WelcomedAt;
  readonly schema: LiveSchema;
  readonly spoken: SpokenSchema;
  readonly position: number;
  readonly recordBytes: number;
  readonly now: number;
}

export const welcomeFrame = (facts: WelcomeFacts): Welcome => ({
  frame: "welcome",
  stamp: facts.head.syncId,
  logId: facts.head.logId,
  session: facts.session,
  participant: nameOf(facts.principal),
  ...tokenFields(facts.principal, facts.models, facts.now),
  protocol: STREAM_PROTOCOL,
  resumeFrom: facts.position,
  schema: facts.schema.version === 0 ? null : { version: facts.schema.version, hash: facts.schema.hash },
  rowsVersion: facts.spoken.shownRowsVersion,
  recordBytes: facts.recordBytes,
  serverTime: new Date(facts.now).toISOString(),
  calls: limits.callsInFlight,
  parts: limits.parts,
});

/** The token's part of a welcome or renewal. */
export function tokenFields(principal: Principal, models: readonly string[], now: number) {
  const { expiresAt } = principal;
  return {
    owner: ownerName(principal),
    viewHash: viewHashOf(principal),
    models: [...models],
    expiresAt,
    expiresInMs: expiresAt === null ? null : Math.max(0, Date.parse(expiresAt) - now),
  };
}

/** Why the rows that a client has cannot be continued. Undefined: they can. */
export function resyncReason(
  { log, since, view }: SaidRows,
  head: WelcomedAt,
  principal: Principal,
): ResyncReason | undefined {
  const position = since ?? head.syncId;
  if (log !== undefined && log !== head.logId) return "other_log";
  if (position > head.syncId) return "ahead";
  if (position < head.trimmedTo) return "trimmed";
  return view !== undefined && view !== viewHashOf(principal) ? "scope" : undefined;
}
