import type { JsonObject, Model, Operation } from "@holdfast/sdk/protocol";
import type { CommitOperation, CommitRequest } from "../kernel/commits/rules/commit-request.ts";
import { judgeInOrder } from "../kernel/commits/rules/judge-commits.ts";
import { NO_VALUES, recordValues } from "../kernel/commits/rules/record-values.ts";
import type { RoundModule, TenantState } from "../kernel/commits/rules/tenant-state.ts";
import { declaredValues } from "../kernel/schema/rules/declared-values.ts";
import { scopeOf } from "../kernel/tokens/rules/scope.ts";
import { claimsRound } from "../modules/claims/rules/claims-round.ts";
import { CLAIMS } from "../modules/claims/rules/claims-state.ts";
import { SOURCES, type TenantIntents } from "../modules/sources/rules/tenant-intents.ts";

/** Models for tests of the rules: a slide in its deck's group, and one that is judged as a whole. */
export const MODELS: Readonly<Record<string, Model>> = {
  Slide: {
    fields: {
      deckId: { type: "string" },
      title: { type: "string" },
      notes: { type: "string", nullable: true },
      order: { type: "number", default: 0 },
      extra: { type: "json", nullable: true },
    },
    groups: [{ kind: "deck", from: "deckId" }],
  },
  whole: { fields: { a: { type: "string" }, b: { type: "string" } }, conflict: "record" },
  favorite: { fields: { recordId: { type: "string" } } },
  strict: { fields: { name: { type: "string", required: true }, at: { type: "datetime" } } },
};

export const NOW = "2026-01-02T03:04:05.678Z";

/** A tenant with an empty log. The rules change it as in a round of commits. */
export const emptyTenant = (models: Readonly<Record<string, Model>> = MODELS): TenantState => ({
  organization: "org_1",
  models: new Map(Object.entries(models).map(([name, model]) => [name.toLowerCase(), { name, model, changes: [] }])),
  recordBytes: 1_048_576,
  bytes: { commitBytes: 2 ** 25, roundBytes: 2 ** 21, first: undefined, used: 0 },
  now: NOW,
  head: { logId: "log_1", schemaVersion: 1, trimmedTo: 0, syncId: 0, writer: null, otherSyncId: 0 },
  records: new Map(),
  history: new Map(),
  values: recordValues(declaredValues(Object.entries(models)), NO_VALUES),
  groupHeads: new Map(),
  authors: new Map(),
  receipts: new Map(),
  newReceipts: [],
  modules: new Map<string, RoundModule>([
    [
      CLAIMS,
      claimsRound({
        ...{ queues: new Map(), waits: [], revokedTokens: new Set(), held: new Map() },
        ...{ change: 0, count: 0, changed: new Map() },
      }),
    ],
    [SOURCES, intents({ listed: new Set(Object.keys(models).map((name) => name.toLowerCase())) })],
  ]),
});

export const intents = (known: Partial<TenantIntents>): RoundModule & TenantIntents => ({
  ...{ reserved: new Set<string>(), open: new Set<string>(), listed: new Set<string>() },
  ...known,
});

export interface Who {
  readonly id?: string;
  /** The scope of the writer's token. Absent: a secret key. */
  readonly scope?: {
    readonly operations: readonly string[];
    readonly groups: readonly string[];
    readonly onBehalfOf?: readonly string[];
  };
  readonly clientId?: string;
}

type Sent = Partial<Omit<CommitRequest, "operations">> & Who;

let made = 0;

/** A commit as the edge creates it. Its content serves as the fingerprint. */
export function commitOf(
  operations: readonly CommitOperation[],
  { id = "ann", clientId, scope, ...rest }: Sent = {},
): CommitRequest {
  made += 1;
  const names = { clientTxId: rest.idempotencyKey ?? `ctx_${made}`, serverTxId: `stx_${made}` };
  return {
    principal: {
      tenant: 1,
      organization: "org_1",
      livemode: true,
      database: null,
      participantKind: "user",
      participantId: id,
      tokenId: "key_1",
      tokenKind: "secret_key",
      expiresAt: null,
      scope: scope && scopeOf("org_1", { onBehalfOf: [], ...scope, syncGroups: scope.groups }),
    },
    endpoint: "commit",
    single: false,
    logId: undefined,
    operations,
    reads: [],
    clientId: clientId ?? null,
    idempotencyKey: undefined,
    fingerprint: JSON.stringify(operations),
    ...names,
    ...rest,
  };
}

const operation =
  (action: Operation["action"]) =>
  (model: string, id: string, data?: JsonObject | null, rest: Partial<Operation> = {}): Operation => ({
    action,
    model,
    id,
    ...(data && { data: { ...data } }),
    ...rest,
  });

export const create = operation("create");
export const update = operation("update");
export const remove = operation("delete");
export const archive = operation("archive");
export const unarchive = operation("unarchive");

/** Runs commits one after another, as in a round. Returns the result of each. */
export const written = (state: TenantState, ...commits: readonly CommitRequest[]) => judgeInOrder(state, commits);

/** Runs one commit with these operations. Returns its result. */
export function write(state: TenantState, operations: readonly CommitOperation[], sent: Sent = {}) {
  const [judged] = written(state, commitOf(operations, sent));
  if (!judged) throw new Error("Nothing was judged.");
  return judged;
}

/** The code of a refusal, or the kind of another decision. */
export const outcomeOf = ({ decision }: ReturnType<typeof write>): string =>
  decision.kind === "refused" ? decision.refusal.code : decision.kind;
