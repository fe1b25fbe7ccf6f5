/** A fault that is planted into a copy of the server's sources, and the section that has to notice it. */
export interface Mutant {
  readonly name: string;
  readonly section: string;
  /** Only the cases whose sentence has these words: for sections that take their time. */
  readonly only?: string;
  readonly edits: readonly Edit[];
  /** Changed variables of the server's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** It is found quickly, so every test run includes it. */
  readonly isQuick?: true;
}

/** `find` has to be in the file exactly once: a patch that no longer fits is no proof. */
export interface Edit {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

const server = "packages/server/src";

export const mutants: readonly Mutant[] = [
  {
    name: "the same key is taken for the same request, whatever the body",
    isQuick: true,
    section: "idempotency",
    edits: [
      {
        file: `${server}/rules/commits/replay.ts`,
        find: "if (position === 0 && stored.fingerprint === commit.fingerprint) return",
        replace: "if (position === 0) return",
      },
    ],
  },
  {
    name: "a stored receipt is not sent again",
    section: "idempotency",
    edits: [
      {
        file: `${server}/rules/commits/replay.ts`,
        find: "if (!stored) continue;",
        replace: "if (stored ?? true) continue;",
      },
    ],
  },
  {
    name: "a limit out of bounds is clamped",
    section: "lists",
    edits: [
      {
        file: `${server}/http/query.ts`,
        find: "if (value >= min && value <= max) return value;",
        replace: "if (!Number.isNaN(value)) return Math.min(Math.max(value, min), max);",
      },
    ],
  },
  {
    name: "records that sort alike are lost between two pages",
    section: "lists",
    edits: [
      {
        file: `${server}/db/lists/list-records.ts`,
        // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the source's own.
        find: "(${expression}, id) ${beyond} (${param(value)}::text::${type}, ${param(id)}::text)",
        // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the source's own.
        replace: "${expression} ${beyond} ${param(value)}::text::${type}",
      },
    ],
  },
  {
    name: "the stamp of a read is taken after the row",
    section: "reading",
    edits: [
      {
        file: `${server}/flows/log/read-record.ts`,
        find: "    const { syncId: stamp } = await readHead(db, tenant);\n",
        replace: "",
      },
      {
        file: `${server}/flows/log/read-record.ts`,
        find: "    // A record outside the reader's groups is treated as missing.\n",
        replace: "    const { syncId: stamp } = await readHead(db, tenant);\n",
      },
    ],
  },
  {
    name: "readAt is ignored",
    section: "staleness",
    edits: [
      {
        file: `${server}/rules/commits/decide-commit.ts`,
        find: 'if (operation.readAt === undefined || policyOf(operation) === "overwrite") return undefined;',
        replace: "if (operation.readAt !== -1) return undefined;",
      },
    ],
  },
  {
    name: "a batch with a refused operation is applied but for that one",
    section: "batches",
    edits: [
      {
        file: `${server}/rules/commits/decide-commit.ts`,
        find: 'if (refused) return { kind: "refused", refusal: refused };',
        replace: 'if (refused && dryRun.entries.length === 0) return { kind: "refused", refusal: refused };',
      },
    ],
  },
  {
    name: "an update that changes nothing writes a log entry",
    section: "writes",
    edits: [{ file: `${server}/rules/commits/decide-commit.ts`, find: "changedFields?.length === 0 ||", replace: "" }],
  },
  {
    name: "x-request-id is reflected",
    section: "addresses",
    edits: [
      { file: `${server}/http/edge.ts`, find: "requestIdHeader: false", replace: 'requestIdHeader: "x-request-id"' },
    ],
  },
  {
    name: "types are coerced",
    section: "request-bodies",
    edits: [{ file: `${server}/payload/shape-check.ts`, find: "coerceTypes: false", replace: "coerceTypes: true" }],
  },
  {
    name: "WWW-Authenticate is forgotten",
    section: "authentication",
    edits: [
      {
        file: `${server}/envelope/envelope.ts`,
        find: 'if (status === 401) return { "www-authenticate": "Bearer" };',
        replace: "",
      },
    ],
  },
  {
    name: "feed and stream tell what is out of scope",
    section: "scopes-of-reads",
    edits: [
      {
        file: `${server}/rules/log/view.ts`,
        find: 'if (!groups) return "whole";',
        replace: 'return "whole";',
      },
    ],
  },
  {
    name: "lists show what is out of scope",
    section: "scopes-of-reads",
    edits: [
      {
        file: `${server}/db/lists/list-records.ts`,
        // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the source's own.
        find: "...(groups ? [`groups && ${param(groups)}::text[]`] : []),",
        replace: "",
      },
    ],
  },
  {
    name: "a reader is not told what leaves its groups",
    section: "feed",
    edits: [
      {
        file: `${server}/rules/log/view.ts`,
        find: 'return wasThere ? "left" : "hidden";',
        replace: 'return "hidden";',
      },
    ],
  },
  {
    name: "a reader is not told of a record that does not meet its conditions any more",
    section: "feed",
    only: "where selects",
    edits: [
      {
        file: `${server}/rules/log/view.ts`,
        find: 'return mayDiffer ? "left" : "hidden";',
        replace: 'return changed === null ? "left" : "hidden";',
      },
    ],
  },
  {
    name: "of several alternatives of a snapshot only the first one counts",
    section: "snapshot",
    only: "where selects",
    edits: [
      {
        file: `${server}/db/log/snapshot.ts`,
        find: "const meets = alternatives.map(",
        replace: "const meets = alternatives.slice(0, 1).map(",
      },
    ],
  },
  {
    name: "a claim on a field does not stand against what concerns the whole record",
    section: "claim-writes",
    only: "A claim on a field refuses",
    edits: [{ file: `${server}/rules/claims/guard-write.ts`, find: 'action !== "update" || ', replace: "" }],
  },
  {
    name: "every grant has the same fence",
    section: "claim-queue",
    only: "first come, first served",
    edits: [
      {
        file: `${server}/rules/claims/advance-queue.ts`,
        find: "fence: nextFence(),",
        replace: "fence: Math.min(1, nextFence()),",
      },
    ],
  },
  {
    name: "a lease is renewed to a later end only",
    section: "claim-leases",
    only: "A holder that claims again",
    edits: [
      {
        file: `${server}/rules/claims/advance-queue.ts`,
        find: "expiresAt: Math.min(now + ttlMs, last) };",
        replace: "expiresAt: Math.max(claim.expiresAt ?? 0, Math.min(now + ttlMs, last)) };",
      },
    ],
  },
  {
    name: "a lost claim is refused without saying who holds the record",
    section: "claim-writes",
    only: "A write that names a claim",
    edits: [
      {
        file: `${server}/rules/claims/guard-write.ts`,
        find: 'refuse("claim_lost", { param: "claim", claims: claims() })',
        replace: 'refuse("claim_lost", { param: "claim" })',
      },
    ],
  },
  {
    name: "a token's revocation leaves its claims",
    section: "claim-ends",
    only: "Revoking a token ends its claims",
    edits: [
      {
        file: `${server}/flows/tokens/scoped-token-flows.ts`,
        find: "if (ended) await revokeClaims(tx, [id]);",
        replace: "if (!ended) await revokeClaims(tx, [id]);",
      },
    ],
  },
  {
    name: "streams outlive the time of their token",
    section: "token-ends",
    only: "An expired token",
    edits: [
      {
        file: `${server}/realtime/session.ts`,
        find: "if (now?.token !== token) return;",
        replace: "if (now?.token === token) return;",
      },
    ],
  },
  {
    name: "rooms are open to tokens that do not cover them",
    section: "presence-scopes",
    only: "a room outside the token's scope",
    edits: [
      {
        file: `${server}/realtime/presence/room-membership.ts`,
        find: "scope === undefined || isWithin(scope, [room])",
        replace: "scope === undefined || room !== String(isWithin)",
      },
    ],
  },
  {
    name: "a reload is told as a leaving",
    section: "presence-connections",
    only: "shows a broken socket",
    edits: [
      {
        file: `${server}/realtime/presence/room-membership.ts`,
        find: "rooms.breakOff(who.principal.tenant, room, session)",
        replace: "rooms.leave(who.principal.tenant, room, session)",
      },
    ],
  },
  {
    name: "any answer is a success",
    section: "webhook-retries",
    only: "A response of 410",
    edits: [
      {
        file: `${server}/rules/webhooks/delivery-outcome.ts`,
        find: "if (status >= 200 && status < 300)",
        replace: "if (status >= 200)",
      },
    ],
  },
  {
    name: "a batch that failed grows by what came meanwhile",
    section: "webhook-retries",
    only: "Events that arrive while a batch fails",
    edits: [{ file: `${server}/flows/webhooks/deliver.ts`, find: "delivery.batchTo ?? head", replace: "head" }],
  },
  {
    name: "timestamp and id change places where they are signed",
    section: "webhook-deliveries",
    only: "The signature is",
    edits: [
      {
        file: `${server}/outbound/webhook-signature.ts`,
        // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the source's own.
        find: "`${id}.${timestamp}.`",
        // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the source's own.
        replace: "`${timestamp}.${id}.`",
      },
    ],
  },
  {
    name: "a rolled secret signs no more",
    section: "webhook-endpoint-changes",
    only: "After a roll both secrets sign",
    edits: [
      {
        file: `${server}/flows/webhooks/webhook-endpoint-flows.ts`,
        find: "(await readClock(tx)) + rotationMs",
        replace: "(await readClock(tx)) - rotationMs",
      },
    ],
  },
  {
    name: "what was not subscribed to is sent too",
    section: "webhook-events",
    only: "only changes of subscribed models",
    edits: [
      {
        file: `${server}/flows/webhooks/next-events.ts`,
        find: "if (!isTold(event.model)) continue;",
        replace: "isTold;",
      },
    ],
  },
  {
    name: "an endpoint that is enabled again goes on at the head",
    section: "webhook-endpoint-changes",
    only: "A disabled endpoint gets nothing",
    edits: [
      {
        file: `${server}/flows/webhooks/webhook-endpoint-flows.ts`,
        find: "changeDelivery(by, id, enable),",
        replace: "change(by, id, (one) => ({ ...one, delivery: { ...enable(one.delivery), cursor: one.head } })),",
      },
    ],
  },
  {
    name: "what stands for a private address in IPv6 is taken for public",
    section: "webhook-addresses",
    only: "[64:ff9b::7f00:1]",
    env: { HOLDFAST_WEBHOOK_ALLOW_PRIVATE: "0" },
    edits: [
      {
        file: `${server}/outbound/public-address.ts`,
        find: 'inner.range() === "unicast"',
        replace: 'inner.range() !== ""',
      },
    ],
  },
  {
    name: "the fence of a write is not compared",
    section: "claim-writes",
    only: "fenceToken is the fence",
    edits: [
      {
        file: `${server}/rules/claims/guard-write.ts`,
        find: "!own.some(({ fence }) => fence === fenceToken)",
        replace: "!own.some(({ fence }) => fence !== null)",
      },
    ],
  },
  {
    name: "the devices of a participant are one holder",
    section: "claim-grants",
    only: "Workers of one participant",
    edits: [
      {
        file: `${server}/rules/claims/claim.ts`,
        find: "clientId === null ? participant :",
        replace: "clientId !== undefined ? participant :",
      },
    ],
  },
  {
    name: "a waiter is granted a record that has left its groups",
    section: "claim-queue",
    only: "a waiter whose token was revoked",
    edits: [
      {
        file: `${server}/rules/claims/advance-queue.ts`,
        find: "mayHold(waiter, facts) ? granted",
        replace: "mayHold(waiter, facts) || waiter ? granted",
      },
    ],
  },
  {
    name: "an order of the line may close a circle",
    section: "claim-deadlocks",
    only: "Reordering a queue",
    edits: [
      {
        file: `${server}/rules/claims/decide-claim.ts`,
        find: "if (hasCircle(waitsIn(reordered, tenant.now), tenant.waitsElsewhere))",
        replace: "if (!reordered && hasCircle(waitsIn(reordered, tenant.now), tenant.waitsElsewhere))",
      },
    ],
  },
  {
    name: "any token reads the receipts of others",
    section: "lookups",
    only: "A scoped token finds",
    edits: [
      {
        file: `${server}/http/routes/commits.ts`,
        find: 'if (principal.tokenKind !== "secret_key") return refuse("secret_key_required", { param: "participant" });',
        replace: "",
      },
    ],
  },
  {
    name: "a cursor with something behind it is taken",
    section: "lists",
    only: "changed by one character",
    edits: [
      { file: `${server}/flows/lists/page-cursor.ts`, find: "rest.length > 0 ||", replace: "rest.length > 9 ||" },
    ],
  },
  {
    name: "a create without its group is only denied",
    section: "scopes-of-writes",
    only: "names its group",
    edits: [
      {
        file: `${server}/rules/commits/check-scope.ts`,
        find: "if (after.groups.length > 0) return undefined;",
        replace: "if (after.groups.length >= 0) return undefined;",
      },
    ],
  },
  {
    name: "another scope on an open stream needs no resync",
    section: "stream",
    only: "auth with another scope",
    edits: [
      {
        file: `${server}/realtime/session.ts`,
        find: 'if (!isSameView(view, current.reader.view)) resync("scope");',
        replace: "",
      },
    ],
  },
  {
    name: "a reader with rows of another view goes on",
    section: "identity",
    only: "the same owner and view",
    edits: [
      {
        file: `${server}/realtime/session.ts`,
        find: "seenUnder !== viewHashOf(principal)",
        replace: "seenUnder === undefined",
      },
    ],
  },
];
