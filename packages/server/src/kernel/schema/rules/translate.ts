import type {
  Claim,
  ClaimFrame,
  ClaimsFrame,
  CommitReceipt,
  FollowedConditions,
  FollowedRecords,
  Json,
  JsonObject,
  LogEntry,
  Proposal,
} from "@holdfast/sdk/protocol";
import { operationIndexOf, operationParam } from "@holdfast/sdk/protocol";
import type { CommitOperation, CommitRequest } from "../../commits/rules/commit-request.ts";
import type { Parameter } from "../../lists/rules/list-filter.ts";
import { isRefusal, type Refusal, refuse } from "../../refusal.ts";
import type { ClientNames } from "./client-names.ts";
import type { FieldNames } from "./field-names.ts";

/*
 * Translates between the names of a client with an older schema and the current ones, at the edges: what comes in has the
 * current names before it is judged, and what goes out has the client's after that. Everything in between knows one name.
 */

const namesOf = ({ models }: ClientNames, model: string): FieldNames | undefined => models.get(model.toLowerCase());

const namedIn = ({ toNew }: FieldNames, name: string): string | null => {
  const now = toNew.get(name);
  return now === undefined ? name : now;
};

const namedOut = ({ toOld }: FieldNames, name: string): string | null => {
  const older = toOld.get(name);
  return older === undefined ? name : older;
};

/** The values of a record. Fields that the client does not have are left out. */
function valuesOut<V>(names: FieldNames, values: Readonly<Record<string, V>>): Record<string, V> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]): [string, V][] => {
      const own = namedOut(names, name);
      return own === null ? [] : [[own, value]];
    }),
  );
}

const listOut = (names: FieldNames, fields: readonly string[]): string[] =>
  fields.flatMap((name) => namedOut(names, name) ?? []);

// In

/** A commit under the current names. Its fingerprint stays: repeated after a push, it is the same commit. */
export function commitIn(clientNames: ClientNames, commit: CommitRequest): CommitRequest | Refusal {
  const operations: CommitOperation[] = [];
  for (const [index, operation] of commit.operations.entries()) {
    const translated = operationIn(clientNames, operation);
    if (isRefusal(translated))
      return commit.single ? translated : { ...translated, param: operationParam(index, translated.param) };
    operations.push(translated);
  }
  return {
    ...commit,
    operations,
    reads: commit.reads.map((read) => {
      const names = read.model === undefined ? undefined : namesOf(clientNames, read.model);
      // A field that the client's schema has and the current one does not cannot have moved.
      return names && read.fields
        ? { ...read, fields: read.fields.flatMap((name) => namedIn(names, name) ?? []) }
        : read;
    }),
  };
}

function operationIn(clientNames: ClientNames, operation: CommitOperation): CommitOperation | Refusal {
  const names = namesOf(clientNames, operation.model);
  if (!names) return operation;
  const data = operation.data && valuesIn(names, operation.data, "data");
  if (isRefusalOf(data)) return data.refused;
  const changes = operation.changes && valuesIn(names, operation.changes, "changes");
  if (isRefusalOf(changes)) return changes.refused;
  return { ...operation, ...(data && { data: data.values }), ...(changes && { changes: changes.values }) };
}

/** Values may have a field `code`, so a refusal is told from them by a wrapper. */
type Translated<V> = { readonly values: Record<string, V> } | { readonly refused: Refusal };
const isRefusalOf = <V>(one: Translated<V> | undefined): one is { readonly refused: Refusal } =>
  one !== undefined && "refused" in one;

function valuesIn<V>(names: FieldNames, values: Readonly<Record<string, V>>, at: string): Translated<V> {
  const entries: [string, V][] = [];
  for (const [name, value] of Object.entries(values)) {
    const now = namedIn(names, name);
    if (now === null) return { refused: refuse("unknown_field", { param: `${at}.${name}`, message: GONE }) };
    entries.push([now, value]);
  }
  return { values: Object.fromEntries(entries) };
}

const GONE = "The field has been removed since this client's schema.";

/** The field of a claim. */
export function fieldIn(clientNames: ClientNames, model: string, field: string, param: string): string | Refusal {
  const names = namesOf(clientNames, model);
  return (names ? namedIn(names, field) : field) ?? refuse("unknown_column", { param, message: GONE });
}

/** A parameter under its current name, and as the client sent it, which is how a refusal names it. */
export interface TranslatedFilter {
  readonly sent: string;
  readonly parameter: Parameter;
}

const FILTER = /^filter\[([^[\]]*)\]/;

/** The filters of a list, in their order. */
export function filtersIn(
  clientNames: ClientNames,
  model: string,
  filters: readonly Parameter[],
): readonly TranslatedFilter[] | Refusal {
  const names = namesOf(clientNames, model);
  const translated: TranslatedFilter[] = [];
  for (const [sent, value] of filters) {
    const spelled = FILTER.exec(sent)?.[1];
    const now = names ? namedIn(names, spelled ?? sent) : (spelled ?? sent);
    if (now === null) return refuse("unknown_column", { param: sent.slice(0, 100), message: GONE });
    const param = spelled === undefined ? now : sent.replace(FILTER, () => `filter[${now}]`);
    translated.push({ sent, parameter: [param, value] });
  }
  return translated;
}

/**
 * A refusal of a list, with the parameter as the client sent it. A message that names a field alone is translated later,
 * like all others.
 */
export function filterRefusalOut(refusal: Refusal, filters: readonly TranslatedFilter[]): Refusal {
  const { param, message } = refusal;
  const found = filters.find(({ parameter: [name] }) => name === param);
  if (!found || param === undefined) return refusal;
  const shown = FILTER.test(param) ? message?.replaceAll(`"${param}"`, `"${found.sent}"`) : message;
  return { ...refusal, param: found.sent, ...(shown !== undefined && { message: shown }) };
}

/** What a list is sorted by: keys separated by commas, each a field with what comes behind a colon. */
export function orderIn(clientNames: ClientNames, model: string, orderBy: string): string | Refusal {
  const names = namesOf(clientNames, model);
  const keys: string[] = [];
  for (const key of orderBy.split(",")) {
    const [field = "", ...rest] = key.split(":");
    const now = names ? namedIn(names, field) : field;
    if (now === null) return refuse("unknown_column", { param: "order_by", message: GONE });
    keys.push([now, ...rest].join(":"));
  }
  return keys.join(",");
}

/** The current names of a model's fields, by the client's. Null: the client's field is gone. */
export function nameIn(clientNames: ClientNames | undefined, model: string): (name: string) => string | null {
  const names = clientNames && namesOf(clientNames, model);
  return (name) => (names ? namedIn(names, name) : name);
}

/** No field has this name, so no record meets a condition on it. */
const NO_FIELD = "";

/** The conditions of followed records. */
export const whereIn = (clientNames: ClientNames, where: FollowedRecords): FollowedRecords =>
  Object.fromEntries(
    Object.entries(where).map(([model, conditions]) => {
      const names = namesOf(clientNames, model);
      if (!names) return [model, conditions];
      const one = (each: FollowedConditions) =>
        Object.fromEntries(
          Object.entries(each).map(([name, condition]) => [namedIn(names, name) ?? NO_FIELD, condition]),
        );
      return [model, Array.isArray(conditions) ? conditions.map(one) : one(conditions)];
    }),
  );

// Out

type Entry = Pick<LogEntry, "model" | "data" | "changedFields">;

export function entryOut<E extends Entry>(clientNames: ClientNames, entry: E): E {
  const names = namesOf(clientNames, entry.model);
  if (!names) return entry;
  const { data, changedFields } = entry;
  return {
    ...entry,
    data: data && valuesOut(names, data),
    changedFields: changedFields && listOut(names, changedFields),
  };
}

/** A line of a snapshot, a record of a list, or a record that is read. */
export function dataOut(clientNames: ClientNames, model: string, data: JsonObject): JsonObject {
  const names = namesOf(clientNames, model);
  return names ? valuesOut<Json>(names, data) : data;
}

export const proposalOut = (clientNames: ClientNames, proposal: Proposal): Proposal => ({
  ...proposal,
  operations: proposal.operations.map((operation) => {
    const names = namesOf(clientNames, operation.model);
    if (!names) return operation;
    const { data, changes, base, ...rest } = operation;
    return {
      ...rest,
      ...(data && { data: valuesOut(names, data) }),
      ...(changes && { changes: valuesOut(names, changes) }),
      ...(base && { base: valuesOut(names, base) }),
    };
  }),
});

/** Undefined: a claim on a field that the client does not have. */
export function claimOut(clientNames: ClientNames, claim: Claim): Claim | undefined {
  const { target, field } = claim;
  const names = namesOf(clientNames, target.model);
  if (!names || field === undefined) return claim;
  const own = namedOut(names, field);
  if (own === null) return undefined;
  return { ...claim, field: own, target: { ...target, field: own, ...(target.path !== undefined && { path: own }) } };
}

export const claimsOut = (clientNames: ClientNames, claims: readonly Claim[]): Claim[] =>
  claims.flatMap((claim) => claimOut(clientNames, claim) ?? []);

/** A `claims` or `claim` frame as JSON. Undefined: one of a claim that the client does not see. */
export function claimFrameOut(clientNames: ClientNames, text: string): string | undefined {
  const frame = JSON.parse(text) as ClaimsFrame | ClaimFrame;
  if (frame.frame === "claims")
    return JSON.stringify({
      ...frame,
      claims: claimsOut(clientNames, frame.claims),
      queue: claimsOut(clientNames, frame.queue),
    });
  const claim = claimOut(clientNames, frame.claim);
  const holders = frame.holders && claimsOut(clientNames, frame.holders);
  return claim && JSON.stringify({ ...frame, claim, ...(holders && { holders }) });
}

/** The model that a `param` is about: of the operation that it names, or the only one. */
export type ModelAt = (operation: number | undefined) => string | undefined;

/** The models of a commit's operations. */
export const modelsOf =
  ({ single, operations }: Pick<CommitRequest, "single" | "operations">): ModelAt =>
  (index) =>
    operations[index ?? (single ? 0 : -1)]?.model;

export function refusalOut(clientNames: ClientNames, refusal: Refusal, modelAt: ModelAt): Refusal {
  const { param, message, fields, claims } = refusal;
  const model = modelAt(operationIndexOf(param));
  const names = model === undefined ? undefined : namesOf(clientNames, model);
  return {
    ...refusal,
    ...(names && param !== undefined && { param: paramOut(names, param) }),
    ...(names && message !== undefined && { message: messageOut(names, message) }),
    ...(names && fields && { fields: listOut(names, fields) }),
    ...(claims && { claims: claimsOut(clientNames, claims) }),
  };
}

/** `data.title`, or `operations[6].changes.title`. */
const FIELD = /^((?:operations\[\d+\]\.)?(?:data|changes)\.)([A-Za-z][A-Za-z0-9_]*)(?=$|[.[])/;
/** Messages name fields in quotes. */
const QUOTED = /(")([A-Za-z][A-Za-z0-9_]*)(?=")/g;

const paramOut = (names: FieldNames, param: string): string => renamedIn(names, param, FIELD);
const messageOut = (names: FieldNames, message: string): string => renamedIn(names, message, QUOTED);

const renamedIn = (names: FieldNames, text: string, pattern: RegExp): string =>
  text.replace(pattern, (_, before: string, name: string) => before + (namedOut(names, name) ?? name));

/** A receipt as JSON. Only what a write is held or refused for names fields. */
export function receiptOut(clientNames: ClientNames, text: string, modelAt: ModelAt): string {
  const receipt = JSON.parse(text) as CommitReceipt;
  const { error, notifications } = receipt;
  if (!error && !notifications) return text;
  return JSON.stringify({
    ...receipt,
    ...(error && { error: errorOut(clientNames, error, modelAt) }),
    ...(notifications && {
      notifications: notifications.map((one) => {
        const names = namesOf(clientNames, one.model);
        if (!names) return one;
        return {
          ...one,
          conflictingFields: listOut(names, one.conflictingFields),
          ...(one.currentValues && { currentValues: valuesOut(names, one.currentValues) }),
        };
      }),
    }),
  });
}

function errorOut(
  clientNames: ClientNames,
  error: NonNullable<CommitReceipt["error"]>,
  modelAt: ModelAt,
): NonNullable<CommitReceipt["error"]> {
  const model = modelAt(operationIndexOf(error.field));
  const names = model === undefined ? undefined : namesOf(clientNames, model);
  if (!names) return error;
  return {
    ...error,
    message: messageOut(names, error.message),
    ...(error.field !== undefined && { field: paramOut(names, error.field) }),
  };
}
