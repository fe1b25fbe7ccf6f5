import {
  isRecordId,
  type JsonObject,
  operationParam,
  type SourceRecord,
  type SourceResult,
} from "@holdfast/sdk/protocol";
import { checkPayload } from "../../../kernel/commits/rules/check-payload.ts";
import { checkRecordSize } from "../../../kernel/commits/rules/check-record-size.ts";
import { type CommitRequest, recordKey, rowAction } from "../../../kernel/commits/rules/commit-request.ts";
import type { RecordChange } from "../../../kernel/commits/rules/record-change.ts";
import type { TenantState } from "../../../kernel/commits/rules/tenant-state.ts";
import { checkJsonValues } from "../../../kernel/json/check-json-values.ts";
import { storableText } from "../../../kernel/json/storable-text.ts";
import { type Refusal, refuse } from "../../../kernel/refusal.ts";
import type { DeclaredModel } from "../../../kernel/schema/rules/declared-model.ts";
import { checkGroups } from "../../../kernel/schema/rules/sync-group.ts";
import type { SourceIntent } from "./source-intent.ts";

/** What a source says of a commit. */
export type SourceAnswer =
  | { readonly kind: "committed"; readonly records: Extract<SourceResult, { status: "committed" }>["records"] }
  | ({ readonly kind: "refused" } & Omit<Extract<SourceResult, { status: "refused" }>, "status" | "clientTxId">);

export function answerOf(result: SourceResult): SourceAnswer {
  if (result.status === "committed") return { kind: "committed", records: result.records };
  const { status: _, clientTxId: __, ...rest } = result;
  return { kind: "refused", ...rest };
}

const LONGEST_MESSAGE = 1_000;

/** The refusal that the author of a commit sees. */
export function sourceRefusal(
  { single, operations }: CommitRequest,
  { operations: asked }: SourceIntent,
  { message, code, operation, field }: Extract<SourceAnswer, { kind: "refused" }>,
): Refusal {
  const at = operation === undefined ? undefined : asked[operation];
  const index = at ? operations.findIndex(({ model, id }) => model === at.model.toLowerCase() && id === at.id) : -1;
  const data = field ? `data.${storableText(field)}` : undefined;
  const param = index < 0 || single ? data : operationParam(index, data);
  return refuse("source_refused", {
    ...(message !== "" && { message: storableText(message.slice(0, LONGEST_MESSAGE)) }),
    ...(code !== undefined && { source: { code: storableText(code) } }),
    ...(param !== undefined && { param }),
  });
}

/** What the source made of the records of a commit. What does not fit the model is left out, and stays as it was asked for. */
export function changesOf(
  { models, recordBytes }: Pick<TenantState, "models" | "recordBytes">,
  { source, commit }: SourceIntent,
  { records = [] }: Extract<SourceAnswer, { kind: "committed" }>,
): RecordChange[] {
  const last = new Map(commit.operations.map(({ model, id, action }) => [recordKey(model, id), rowAction(action)]));
  // The last one counts, if a record is named twice.
  const named = new Map(records.map((record) => [recordKey(record.model.toLowerCase(), record.id), record]));
  return [...named].flatMap(([key, { model: name, id, data }]): RecordChange[] => {
    const model = name.toLowerCase();
    const declared = models.get(model);
    const action = last.get(key);
    // One that was deleted and is still there is read by its next event: the commit has not read its values.
    if (declared?.model.source !== source || action === undefined || action === "delete") return [];
    if (data === null) return [{ model, id, data }];
    const read = readSourceRecord(declared, { id, data }, recordBytes);
    return "problem" in read ? [] : [{ model, id, data: read.data }];
  });
}

/** A record of a source, or why it cannot be one. Fields that the model does not have are left out. */
export function readSourceRecord(
  { name, model }: DeclaredModel,
  { id, data }: SourceRecord,
  recordBytes: number,
): { readonly data: JsonObject } | { readonly problem: string } {
  const known = Object.fromEntries(
    Object.entries(data).filter(([field]) => field !== "id" && Object.hasOwn(model.fields, field)),
  ) as JsonObject;
  const refusal = isRecordId(id)
    ? (checkJsonValues(known, "data") ??
      checkPayload(model, "create", id, known) ??
      checkGroups(model, known) ??
      checkRecordSize(JSON.stringify(known), recordBytes))
    : refuse("invalid_id");
  if (!refusal) return { data: known };
  const { code, message = code, param } = refusal;
  return { problem: `${name} ${id.slice(0, 80)}: ${param === undefined ? "" : `${param}: `}${message}` };
}
