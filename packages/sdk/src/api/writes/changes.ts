import { invalid } from "../../errors.ts";
import { clientLimits as limits } from "../../protocol/client-limits.ts";
import { CHANGE, type Change, type SplitPatch } from "../../protocol/commits/change.ts";
import {
  changedValues,
  type FieldChange,
  type FieldChanges,
  type Item,
  isIncrement,
  isOutOfRange,
  takesChange,
} from "../../protocol/commits/field-change.ts";
import { ownValue } from "../../protocol/own-value.ts";
import { brokenRule } from "../../protocol/schema/field-rules.ts";
import { expectedValue, fits } from "../../protocol/schema/field-value.ts";
import { got } from "./got.ts";
import { objectCopy } from "./payload.ts";

/** No plain object, so that one inside of a value is refused there. */
const MARK = {};
const change = <T>(one: FieldChange): Change<T> =>
  Object.assign(Object.create(MARK), { [CHANGE]: { change: one, split } });

/**
 * Adds to a number field: `update(id, { votes: increment(1) })`. Each increment counts, whatever others write there
 * meanwhile: it never conflicts. A field that is absent or null starts at 0.
 */
export const increment = (by: number): Change<number> => change({ increment: by });

/**
 * Adds items to an array field, each once: `update(id, { labelIds: add("bug") })`. Never conflicts. Items are texts,
 * numbers or booleans, at most 1 000.
 */
export const add = <T extends Item>(...items: readonly T[]): Change<readonly T[]> => change({ add: items });

/** Removes items from an array field, wherever they are: `update(id, { labelIds: remove("bug") })`. Never conflicts. */
export const remove = <T extends Item>(...items: readonly T[]): Change<readonly T[]> => change({ remove: items });

const split: SplitPatch = (patch, { name: modelName, model, shown }) => {
  const entries = Object.entries(patch);
  const changes = objectCopy(
    Object.fromEntries(entries.flatMap(([name, value]) => (isChange(value) ? [[name, value[CHANGE].change]] : []))),
    "changes",
  ) as unknown as FieldChanges;
  const after = shown && changedValues(shown, changes, model);
  for (const [name, one] of Object.entries(changes)) {
    const param = `changes.${name}`;
    const field = model && name !== "id" && ownValue(model.fields, name);
    if (!field) throw invalid("unknown_field", `The model "${modelName}" has no field ${JSON.stringify(name)}.`, param);
    if (!takesChange(field, one))
      throw invalid(
        "invalid_type",
        `The "${name}" field does not accept this change: its type is ${expectedValue(field)}.`,
        param,
      );
    checkOperands(one, param);
    const value = ownValue(after, name);
    const readonly = brokenRule(field, null, "update");
    if (readonly) throw invalid("rule_broken", `The "${name}" field ${readonly.demand}.`, param, readonly.rule);
    // Nothing is known of the record, or nothing changes.
    if (value === undefined || value === ownValue(shown, name)) continue;
    if (isOutOfRange(field, value))
      throw invalid("invalid_value", `The "${name}" field would become ${value}, which is too large.`, param);
    if (!fits(field, value)) throw invalid("invalid_type", `The "${name}" field would become ${got(value)}.`, param);
    const broken = brokenRule(field, value, "update");
    if (broken) throw invalid("rule_broken", `The "${name}" field ${broken.demand}.`, param, broken.rule);
  }
  return { data: Object.fromEntries(entries.filter(([, value]) => !isChange(value))), changes };
};

function checkOperands(one: FieldChange, param: string): void {
  if (isIncrement(one)) {
    if (typeof one.increment !== "number") throw invalid("invalid_value", "An increment must be a number.", param);
    return;
  }
  const { add = [], remove = [] } = one;
  if (Math.max(add.length, remove.length) > limits.itemsPerChange)
    throw invalid("invalid_value", `A change has at most ${limits.itemsPerChange} items.`, param);
  if (![...add, ...remove].every((item) => ["string", "number", "boolean"].includes(typeof item)))
    throw invalid("invalid_value", "The items of a change must be strings, numbers or booleans.", param);
}

const isChange = (value: unknown): value is Change<unknown> =>
  typeof value === "object" && value !== null && CHANGE in value;
