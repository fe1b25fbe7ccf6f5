import type { AnswerRoom } from "../../../kernel/commits/rules/answer-room.ts";
import { isForLater } from "../../../kernel/commits/rules/commit-bytes.ts";
import type { CommitRequest } from "../../../kernel/commits/rules/commit-request.ts";
import { decideCommit } from "../../../kernel/commits/rules/decide-commit.ts";
import { conclude, type Judged } from "../../../kernel/commits/rules/judge-commits.ts";
import { replayOf } from "../../../kernel/commits/rules/replay.ts";
import type { Decision, TenantState } from "../../../kernel/commits/rules/tenant-state.ts";
import { confirmedAsLeft } from "../../../kernel/commits/rules/written-commit.ts";
import { refuse } from "../../../kernel/refusal.ts";
import { changesOf, type SourceAnswer, sourceRefusal } from "./source-answer.ts";
import { reservedKeys, type SourceIntent, sourceWrites } from "./source-intent.ts";
import { intentsOf } from "./tenant-intents.ts";

/** Nothing was judged if it waits: the round is full, or an intent has its records. */
export type SourceJudgement =
  | { readonly judged: Judged }
  | { readonly answer: SourceIntent }
  | { readonly waits: "for a round" | "for others" };

/** Judges a commit. One that writes records of a source becomes an intent, and its records are kept for it. */
export function judgeForSource(
  state: TenantState,
  commit: CommitRequest,
  id: string,
  room?: AnswerRoom,
): SourceJudgement {
  if (isForLater(state, commit)) return { waits: "for a round" };
  const keys = reservedKeys(commit);
  if (keys.some((key) => intentsOf(state).reserved.has(key))) return { waits: "for others" };
  const decided = decideCommit(state, commit);
  const decision: Decision = isUnknown(state, commit, decided)
    ? { kind: "refused", refusal: refuse("source_unavailable", { message: NOT_READ }) }
    : decided;
  const [writes, other] = decision.kind === "confirmed" ? sourceWrites(state, decision.entries) : [];
  if (other) {
    const refusal = refuse("invalid_value", {
      param: "operations",
      message: "A commit can write the models of only one datasource. Use one commit for each datasource.",
    });
    return { judged: conclude(state, commit, { kind: "refused", refusal }) };
  }
  if (writes && decision.kind === "confirmed" && decision.entries.some(({ model }) => hasValues(state, model))) {
    const refusal = refuse("invalid_value", { param: "operations", message: WITH_VALUES });
    return { judged: conclude(state, commit, { kind: "refused", refusal }) };
  }
  if (!writes || decision.kind !== "confirmed") return { judged: conclude(state, commit, decision, room) };
  for (const key of keys) intentsOf(state).reserved.add(key);
  const { missingIds = [], id: madeId } = decision.receipt;
  return { answer: { id, commit, ...writes, keys, missingIds, madeId } };
}

const WITH_VALUES =
  "A commit for a datasource cannot write models with unique fields or checked references, because these may no longer hold when the datasource has answered.";

const hasValues = ({ values: { declared } }: TenantState, model: string): boolean =>
  declared.byModel.has(model) || declared.referencing.has(model);

const NOT_READ =
  "The records of this model are still being read from its datasource, and the write names a record that is not read yet. Try again later.";

/** Whether a record that seems to be missing may only not have been read yet. */
const isUnknown = (state: TenantState, { operations }: CommitRequest, decision: Decision): boolean =>
  decision.kind === "confirmed" &&
  decision.receipt.missingIds !== undefined &&
  operations.some(
    ({ model, id }) =>
      decision.receipt.missingIds?.includes(id) &&
      state.models.get(model)?.model.source !== undefined &&
      !intentsOf(state).listed.has(model),
  );

/**
 * Ends an intent by its source's answer. An accepted commit has happened, so it is not judged again: since it became an
 * intent, nothing else has written its records.
 */
export function settleIntent(
  state: TenantState,
  intent: SourceIntent,
  answer: SourceAnswer,
): Exclude<SourceJudgement, { answer: unknown }> {
  const { commit } = intent;
  if (isForLater(state, commit)) return { waits: "for a round" };
  return { judged: settled(state, intent, answer) };
}

function settled(state: TenantState, intent: SourceIntent, answer: SourceAnswer): Judged {
  const { commit } = intent;
  if (!intentsOf(state).open.has(intent.id)) {
    // Another process has asked the source too, and was first.
    const replay = replayOf(state, commit);
    return conclude(state, commit, replay ?? { kind: "refused", refusal: refuse("source_unavailable") });
  }
  if (answer.kind === "refused")
    return conclude(state, commit, { kind: "refused", refusal: sourceRefusal(commit, intent, answer) });
  return conclude(state, commit, confirmedAsLeft(state, commit, changesOf(state, intent, answer), intent));
}
