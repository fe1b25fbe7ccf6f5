import { type AcceptBody, type Json, jsonEqual, operationParam } from "@holdfast/sdk/protocol";
import type { CommitOperation } from "../../../kernel/commits/rules/commit-request.ts";
import { type Refusal, refuse } from "../../../kernel/refusal.ts";
import type { StoredOperation } from "./proposal.ts";

/** The operations of a commit that accepts a proposal, or a part of it. */
export function takenOperations(
  operations: readonly StoredOperation[],
  take: AcceptBody["take"],
  how: Pick<CommitOperation, "readAt" | "onStale">,
): readonly CommitOperation[] | Refusal {
  const taken: CommitOperation[] = [];
  const seen = new Set<number>();
  for (const [index, { operation: place, fields }] of (take ?? operations.map(whole)).entries()) {
    const param = `take[${index}].operation`;
    const operation = operations[place];
    if (!operation)
      return refuse("invalid_value", { param, message: `The proposal has ${operations.length} operations, from 0.` });
    if (seen.has(place)) return refuse("invalid_value", { param, message: "An operation can be taken once." });
    seen.add(place);
    const part = partOf(operation, fields);
    if (typeof part === "string") return refuse("invalid_value", { param: `take[${index}].fields`, message: part });
    taken.push({ ...part, ...how });
  }
  return taken;
}

const whole = (_: StoredOperation, operation: number): { operation: number; fields?: string[] } => ({ operation });

/** The operation with these fields alone. A sentence: it does not have them. */
function partOf(
  { base: _, ...operation }: StoredOperation,
  fields: readonly string[] | undefined,
): CommitOperation | string {
  if (fields === undefined) return operation;
  const { data, changes, ...rest } = operation;
  if (rest.action !== "create" && rest.action !== "update") return `A ${rest.action} has no fields.`;
  const unknown = fields.find((field) => !Object.hasOwn({ ...data, ...changes }, field));
  if (unknown !== undefined) return `The operation does not set "${unknown}".`;
  const own = new Set(fields);
  const only = <T>(values: Readonly<Record<string, T>> | undefined) => {
    const kept = Object.entries(values ?? {}).filter(([field]) => own.has(field));
    return kept.length > 0 || rest.action === "create" ? Object.fromEntries(kept) : undefined;
  };
  const [taken, changed] = [only(data), only(changes)];
  return { ...rest, ...(taken && { data: taken }), ...(changes && changed && { changes: changed }) };
}

/** What a commit takes of a proposal, by its operations. */
export interface Taking {
  /** Absent: all of it. */
  readonly take?: NonNullable<AcceptBody["take"]>;
  /** Values are not those that were proposed. */
  readonly edited?: true;
}

/** Refuses operations that are not of the proposal, or set fields that it does not set. */
export function takingOf(
  proposed: readonly StoredOperation[],
  operations: readonly CommitOperation[],
): Taking | Refusal {
  const take: NonNullable<AcceptBody["take"]> = [];
  const left = new Set(proposed.keys());
  let edited = false;
  for (const [index, operation] of operations.entries()) {
    const own = valuesOf(operation);
    const same = [...left].filter((at) => isSameRecord(proposed[at], operation));
    const foreignTo = (at: number) => Object.keys(own).find((field) => !Object.hasOwn(valuesOf(proposed[at]), field));
    const place = same.find((at) => foreignTo(at) === undefined);
    if (place === undefined) {
      const message =
        same[0] === undefined
          ? "The proposal has no such operation."
          : `The proposal does not set "${foreignTo(same[0])}".`;
      return refuse("not_proposed", { param: operationParam(index), message });
    }
    left.delete(place);
    const asked = valuesOf(proposed[place]);
    const fields = Object.keys(own);
    edited ||= fields.some((field) => !jsonEqual(own[field] as Json, asked[field] as Json));
    take.push({ operation: place, ...(fields.length < Object.keys(asked).length && { fields }) });
  }
  const isAll = left.size === 0 && take.every(({ fields }) => fields === undefined);
  return { ...(!isAll && { take }), ...(edited && { edited }) };
}

type Operation = Pick<CommitOperation, "action" | "model" | "id" | "data" | "changes">;

const valuesOf = (operation: Pick<Operation, "data" | "changes"> | undefined): Readonly<Record<string, unknown>> => ({
  ...operation?.data,
  ...operation?.changes,
});

const isSameRecord = (one: StoredOperation | undefined, { action, model, id }: Operation): boolean =>
  one?.action === action && one.model === model && one.id === id;
