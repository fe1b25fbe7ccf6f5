import {
  brokenPattern,
  brokenRule,
  type ErrorEnvelope,
  type Field,
  faultOfPattern,
  faultOfRules,
  faultOfTransitions,
  faultOfWriters,
  fits,
  type GroupRule,
  isFilledByServer,
  isSyncGroup,
  jsonEqual,
  limits,
  type Model,
  type ModelSchema,
  ownValue,
  type SchemaPush,
} from "@holdfast/sdk/protocol";
import { isIndexable } from "../../lists/rules/index-plan.ts";
import { type Refusal, refuse } from "../../refusal.ts";
import { faultOfRelations } from "./relation-names.ts";
import { faultOfValues } from "./value-faults.ts";

type Problem = NonNullable<ErrorEnvelope["problems"]>[number];

/** `slide.title: The field is dropped.` */
export const spelledProblem = ({ model, field, problem }: Problem): string =>
  `${field === undefined ? model : `${model}.${field}`}: ${problem}`;

const NAME = /^[A-Za-z][A-Za-z0-9_]{0,62}$/;

/** Checks a pushed schema by itself: names, bounds, types of defaults, existing groups. */
export function checkSchema({ models }: ModelSchema): Refusal | undefined {
  const names = Object.keys(models);
  if (names.length === 0) return bad("models", "A schema needs at least one model.");
  if (names.length > limits.schemaModels)
    return bad("models", `A schema can have up to ${limits.schemaModels} models.`);
  const taken = new Map<string, string>();
  for (const [name, model] of Object.entries(models)) {
    const twin = taken.get(name.toLowerCase());
    if (twin !== undefined) return bad(`models.${name}`, `"${name}" and "${twin}" differ only in case.`);
    taken.set(name.toLowerCase(), name);
    const refusal = NAME.test(name)
      ? checkModel(name, model, names)
      : bad(`models.${name.slice(0, 80)}`, "A model's name must be a letter, then up to 62 letters, digits or _.");
    if (refusal) return refusal;
  }
  const fault = faultOfRelations(models) ?? faultOfValues(models);
  return fault && bad(`models.${fault.model}.fields.${fault.field}`, fault.message);
}

/** Checks the tenant's limit of indexes. A schema that already exceeds it may keep its indexes but not add any. */
export function checkIndexes(before: ModelSchema, pushed: ModelSchema): Refusal | undefined {
  const wanted = indexCount(pushed);
  if (wanted <= limits.schemaIndexes || wanted <= indexCount(before)) return undefined;
  return bad(
    "models",
    `A schema can index up to ${limits.schemaIndexes} fields (this schema: ${wanted}). Remove "index" from fields that no list sorts or filters by.`,
  );
}

const indexCount = ({ models }: ModelSchema): number =>
  Object.values(models).reduce(
    (sum, { fields }) => sum + Object.values(fields).filter((field) => field.index && isIndexable(field)).length,
    0,
  );

function checkModel(
  name: string,
  { fields, groups = [], conflict, writableBy }: Model,
  models: readonly string[],
): Refusal | undefined {
  const at = `models.${name}`;
  if (Object.keys(fields).length > limits.schemaFields)
    return bad(at, `A model can have up to ${limits.schemaFields} fields.`);
  for (const [fieldName, field] of Object.entries(fields)) {
    const path = `${at}.fields.${fieldName.slice(0, 80)}`;
    if (!NAME.test(fieldName)) return bad(path, "A field's name must be a letter, then up to 62 letters, digits or _.");
    const fault = fieldName === "id" ? faultOfId(field) : faultOf(field, models);
    if (fault) return bad(path, fault);
    if (field.merge !== undefined && conflict === "record")
      return bad(path, 'A model with conflict "record" cannot have fields with "merge".');
  }
  const fault = faultOfWriters(writableBy, isSyncGroup);
  if (fault) return bad(`${at}.writableBy`, fault);
  for (const { kind, from } of groups) {
    if (kind === "org") return bad(`${at}.groups`, `The group kind "org" is reserved for the organization.`);
    const field = from === "id" ? { type: "string" } : ownValue(fields, from);
    if (!field || !["string", "enum", "number", "integer"].includes(field.type))
      return bad(`${at}.groups`, `"${from}" must be a string or number field of "${name}".`);
  }
  return undefined;
}

const faultOfId = ({ type, required, nullable, index, ...more }: Field): string | undefined =>
  type === "string" && Object.values(more).every((value) => value === undefined)
    ? undefined
    : `"id" must be a string without a default, a reference or rules, or be omitted.`;

function faultOf(field: Field, models: readonly string[]): string | undefined {
  if (field.type === "enum" && !field.values) return `An enum must have "values".`;
  if (field.type !== "enum" && field.values) return `Only an enum can have "values".`;
  if (field.references !== undefined) {
    if (field.type !== "string" && field.type !== "array") return `Only a string or an array can have "references".`;
    if (!models.some((model) => model.toLowerCase() === field.references?.toLowerCase()))
      return `The field references "${field.references.slice(0, 80)}", which is not a model of this schema.`;
  }
  if (field.index === "text" && field.type !== "string") return 'Only a string can have the index "text".';
  const { pattern, writableBy } = field;
  const fault =
    faultOfRules(field) ??
    (pattern === undefined ? undefined : faultOfPattern(pattern)) ??
    faultOfTransitions(field) ??
    faultOfWriters(writableBy, isSyncGroup);
  if (fault !== undefined) return fault;
  if (field.default === undefined || isFilledByServer(field)) return undefined;
  if (!fits(field, field.default as never)) return "The default does not have the field's type.";
  const broken = brokenRule(field, field.default as never, "create") ?? brokenPattern(field, field.default as never);
  return broken && `The default breaks a rule: it ${broken.demand}.`;
}

const bad = (param: string, message: string): Refusal => refuse("invalid_schema", { param, message });

/** New names by old names, by lower-case model. */
export type Renames = ReadonlyMap<string, Readonly<Record<string, string>>>;

/** Groups renames by model. Refuses one whose old field did not exist or whose new field does not. */
export function readRenames(before: ModelSchema, { models, renames = [] }: SchemaPush): Renames | Refusal {
  const byModel = new Map<string, Record<string, string>>();
  for (const [index, { model, from, to }] of renames.entries()) {
    const was = modelNamed(before, model);
    const now = modelNamed({ models }, model);
    const fault =
      !was || !now
        ? `"${model}" is not a model of both the old and the new schema.`
        : !fieldOf(was, from) || fieldOf(now, from)
          ? `"${from}" is not a removed field of "${model}".`
          : !fieldOf(now, to) || fieldOf(was, to)
            ? `"${to}" is not a new field of "${model}".`
            : undefined;
    const own = byModel.get(model.toLowerCase()) ?? {};
    const isTwice = Object.hasOwn(own, from) || Object.values(own).includes(to);
    if (fault !== undefined || isTwice)
      return bad(`renames[${index}]`, fault ?? `"${from}" or "${to}" is renamed twice.`);
    byModel.set(model.toLowerCase(), { ...own, [from]: to });
  }
  return byModel;
}

const modelNamed = ({ models }: ModelSchema, name: string): Model | undefined =>
  Object.entries(models).find(([declared]) => declared.toLowerCase() === name.toLowerCase())?.[1];

/** Fields that declare an index but have no values that one could find: `slide.extra`. */
export const uselessIndexes = ({ models }: ModelSchema): string[] =>
  Object.entries(models).flatMap(([name, { fields }]) =>
    Object.entries(fields).flatMap(([field, declared]) =>
      declared.index && !isIndexable(declared) ? [`${name}.${field}`] : [],
    ),
  );

export interface SchemaDiff {
  /** Changes that would hide or invalidate existing data. Empty: the push may go ahead. */
  readonly problems: readonly Problem[];
  /** Models whose records change groups. */
  readonly regrouped: readonly string[];
  /** Models with changed fields, and new models. */
  readonly changed: readonly string[];
  /** Models that are no longer declared. */
  readonly dropped: readonly string[];
  /** Models with records of which a field compares otherwise: other records meet a condition on it. */
  readonly recompared: readonly string[];
}

/** What a push changes. `hasRecords`: whether a model (as declared before) has any record. */
export function diffSchemas(
  before: ModelSchema,
  after: ModelSchema,
  hasRecords: (model: string) => boolean,
  renames: Renames = new Map(),
): SchemaDiff {
  const problems: Problem[] = [];
  const regrouped: string[] = [];
  const dropped: string[] = [];
  const recompared: string[] = [];
  const changed = Object.keys(after.models).filter((name) => !modelNamed(before, name));
  const nowByKey = new Map(Object.entries(after.models).map(([name, model]) => [name.toLowerCase(), { name, model }]));
  for (const [name, model] of Object.entries(before.models)) {
    const now = nowByKey.get(name.toLowerCase());
    if (!now) {
      dropped.push(name);
      problems.push({ model: name, problem: "The model is removed." });
    } else {
      // Of records in a table of the caller's nothing is hidden: the model follows the table.
      if (!model.table || !now.model.table)
        problems.push(
          ...fieldProblems(name, model, now.model, hasRecords(name), renames.get(name.toLowerCase()) ?? {}),
        );
      if (!jsonEqual(model.fields as never, now.model.fields as never)) changed.push(now.name);
      if (hasRecords(name) && comparesOtherwise(model, now.model)) recompared.push(now.name);
      if (!sameGroups(model.groups, now.model.groups)) regrouped.push(now.name);
    }
  }
  return { problems, regrouped, changed, dropped, recompared };
}

export const sameGroups = (a: readonly GroupRule[] = [], b: readonly GroupRule[] = []): boolean =>
  jsonEqual(a as never, b as never);

function fieldProblems(
  model: string,
  before: Model,
  after: Model,
  hasRecords: boolean,
  renames: Readonly<Record<string, string>>,
): Problem[] {
  const problems: Problem[] = [];
  const say = (field: string, problem: string) => problems.push({ model, field, problem });
  for (const [name, field] of Object.entries(before.fields)) {
    const now = fieldOf(after, Object.hasOwn(renames, name) ? (renames[name] as string) : name);
    if (!now) say(name, "The field is removed.");
    else if (!widens(field, now)) say(name, `The type ${field.type} is narrowed to ${now.type}.`);
    else if (field.type === "enum" && now.type === "enum" && missing(field, now).length > 0)
      say(name, `Values are removed: ${missing(field, now).join(", ")}.`);
    else if (field.nullable && !now.nullable && hasRecords) say(name, "The field can no longer be null.");
    else if (now.required && !field.required && hasRecords) say(name, "The field becomes required, but records exist.");
  }
  for (const [name, field] of Object.entries(after.fields))
    if (
      !fieldOf(before, name) &&
      !Object.values(renames).includes(name) &&
      field.required &&
      (field.default === undefined || isFilledByServer(field)) &&
      hasRecords
    )
      say(name, "The new required field needs a default, because records exist.");
  return problems;
}

/** A field that is gone, renamed or narrowed is a problem or a change of the records anyway. */
const comparesOtherwise = (before: Model, after: Model): boolean =>
  Object.entries(before.fields).some(([name, field]) => {
    const now = fieldOf(after, name);
    return now !== undefined && comparedAs(field) !== comparedAs(now);
  });

const comparedAs = ({ type }: Field): Field["type"] =>
  type === "integer" ? "number" : type === "enum" ? "string" : type;

/** A field may have the name of an object method, hence `hasOwn`. */
const fieldOf = ({ fields }: Model, name: string): Field | undefined => ownValue(fields, name);

const missing = (before: Field, after: Field): string[] =>
  (before.values ?? []).filter((value) => !after.values?.includes(value));

/** Whether every value of the old type is valid for the new type. */
function widens(before: Field, after: Field): boolean {
  if (before.type === after.type || after.type === "json") return true;
  if (before.type === "integer") return after.type === "number";
  return after.type === "string" && (before.type === "enum" || before.type === "datetime");
}
