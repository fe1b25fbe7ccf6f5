import { shownRow } from "../../core/conflicts/overlay.ts";
import { participantOf } from "../../core/connection/owner-name.ts";
import type { NewOperation } from "../../core/events.ts";
import { tableOf } from "../../core/log/tables.ts";
import { knownFailure } from "../../core/queue/known-failure.ts";
import { shownState } from "../../core/select.ts";
import type { ClientState } from "../../core/state.ts";
import { SyncError } from "../../errors.ts";
import { groupProblem } from "../../protocol/commits/commit-problem.ts";
import { brokenPattern } from "../../protocol/schema/pattern.ts";
import { brokenRecordRule, type RuleWriter } from "../../protocol/schema/record-rules.ts";
import { factsOf } from "../facts/row-facts.ts";

/**
 * Throws for a write that breaks a rule which the server judges too: a pattern, and, as far as the client knows it, what
 * depends on the record and its writer. `isAlone`: no other operation of the commit changes the record before it.
 */
export function judgeWrite(
  state: ClientState,
  { action, model: name, id, data = {}, changes = {} }: Omit<NewOperation, "onStale">,
  isAlone: boolean,
): void {
  const model = state.models[tableOf(name)];
  if (!model) return;
  for (const [field, value] of Object.entries(data)) {
    const declared = model.fields[field];
    const broken = declared && brokenPattern(declared, value);
    if (broken) throw ruleBroken(`The "${field}" field ${broken.demand}.`, `data.${field}`, broken.rule);
  }
  const odd = groupProblem(model, { ...data, id });
  if (odd) throw new SyncError(knownFailure(odd.code, odd.message, { param: odd.param }));
  const shown = isAlone && action !== "create" ? shownRow(shownState(state), { model: name, id }) : undefined;
  if (!shown && action !== "create") return;
  const before = shown && {
    data: shown.data,
    // Few models have a rule about it, and to find it out costs a tenth of an update.
    get createdBy() {
      return factsOf(shownState(state), { model: name, id })?.$createdBy;
    },
  };
  const broken = brokenRecordRule(
    model,
    { action, values: { ...data, ...(changes as object) }, before },
    writerOf(state),
  );
  if (!broken) return;
  const { rule, demand, field } = broken;
  if (field === undefined) throw ruleBroken(`A record of ${name} ${demand}.`, "id", rule);
  throw ruleBroken(
    `The "${field}" field ${demand}.`,
    `${Object.hasOwn(changes, field) ? "changes" : "data"}.${field}`,
    rule,
  );
}

/** The groups of its token are not known to a client. A system may have a secret key, which may write everything. */
function writerOf(state: ClientState): RuleWriter | undefined {
  const name = participantOf(state);
  return name?.startsWith("system:") ? undefined : { name, isMember: () => undefined };
}

const ruleBroken = (message: string, param: string, rule: string): SyncError =>
  new SyncError({ code: "rule_broken", type: "validation_error", status: 400, then: "fix", message, param, rule });
