import { brokenRecordRule, type JsonObject, type RuleWriter } from "@holdfast/sdk/protocol";
import { type Refusal, refuse } from "../../refusal.ts";
import type { DeclaredModel } from "../../schema/rules/declared-model.ts";
import { nameOf, type Principal } from "../../tokens/rules/participant.ts";
import { type CommitOperation, rowAction } from "./commit-request.ts";
import type { RecordState } from "./tenant-state.ts";

/**
 * Checks the rules that depend on the record and its writer. `changed`: what the changes of an update come to, or all
 * values of a record that replaces `before`.
 */
export function checkRecordRules(
  principal: Principal,
  { name, model }: Pick<DeclaredModel, "name" | "model">,
  { action, data, changes }: CommitOperation,
  before: RecordState | null,
  changed: JsonObject | undefined,
): Refusal | undefined {
  const write = {
    action: rowAction(action),
    values: { ...(data as JsonObject), ...changed },
    before: before ?? undefined,
  };
  const broken = brokenRecordRule(model, write, ruleWriter(principal));
  if (!broken) return undefined;
  const { rule, demand, field } = broken;
  if (field === undefined)
    return refuse("rule_broken", { param: "id", rule, message: `A record of ${name} ${demand}.` });
  const param = `${changes && Object.hasOwn(changes, field) ? "changes" : "data"}.${field}`;
  return refuse("rule_broken", { param, rule, message: `"${field}" ${demand}.` });
}

/** A secret key may write everything. */
const ruleWriter = (principal: Principal): RuleWriter | undefined => {
  const { scope } = principal;
  return scope && { name: nameOf(principal), isMember: (group) => scope.memberOf.has(group) };
};
