import type { SyncError } from "../../errors.ts";
import type { InvalidCode } from "../../protocol/errors/error-codes.ts";
import type { Model } from "../../protocol/schema/model-schema.ts";
import { type Relation, relationsOf } from "../../protocol/schema/relations.ts";
import type { AnyInclude, AnyQuery, ListQuery } from "../lists/list-query.ts";

/** What relations use of the lists. It is handed over, because a chunk that imports it would split theirs. */
export interface ListCode {
  /** By lower-case name. */
  readonly models: Readonly<Record<string, Model>>;
  /** Compiles a query of a model. Throws for an invalid one. */
  compile(model: string, query: AnyQuery): ListQuery;
  /** The error for what a query cannot have there. */
  invalid(code: InvalidCode, message: string, param: string): Error;
}

/** The records at one place of a query, and what they include. Trees with equal keys include the same. */
export interface IncludeTree {
  readonly key: string;
  /** All records of the model, also archived ones. */
  readonly query: ListQuery;
  readonly branches: readonly IncludeBranch[];
}

export interface IncludeBranch extends Pick<Relation, "kind" | "field"> {
  readonly name: string;
  readonly query: ListQuery;
  /** For an inverse relation: without the limit, which holds for each record that includes others. */
  readonly whole: ListQuery | undefined;
  /** The query has an order of its own; otherwise the order of the reference counts. */
  readonly isOrdered: boolean;
  readonly tree: IncludeTree;
}

/** Compiles what a query of a model includes. Throws for what is invalid. */
export function includeTree(code: ListCode, model: string, include: AnyInclude, param = "include"): IncludeTree {
  const odd = (at: string, message: string) => code.invalid("invalid_value", message, at);
  if (!isObject(include)) throw odd(param, `${param} must be an object: { <relation>: true }.`);
  const relations = relationsOf(code.models, model);
  const branches = Object.entries(include).flatMap(([name, wanted]): IncludeBranch[] => {
    const at = `${param}.${name}`;
    if (wanted === undefined) return [];
    const relation = relations.get(name);
    if (!relation) throw odd(at, unknownRelation(model, name, [...relations.keys()]));
    if (wanted !== true && !isObject(wanted)) throw odd(at, `${at} must be true or a query.`);
    const { include: inner = {}, ...query }: AnyQuery = wanted === true ? {} : wanted;
    if ("staleOk" in query) throw odd(`${at}.staleOk`, "staleOk is for a whole query.");
    const { model: other, field, kind } = relation;
    return [
      {
        name,
        kind,
        field,
        query: compiledAt(at, code, other, query),
        whole: kind === "inverse" ? code.compile(other, { ...query, limit: undefined }) : undefined,
        isOrdered: query.orderBy !== undefined || query.order !== undefined,
        tree: includeTree(code, other, inner, `${at}.include`),
      },
    ];
  });
  const query = code.compile(model, { archived: "with" });
  const keys = branches.map(({ name, query: { key }, tree }) => `${name}: ${key} ${tree.key}`);
  return { key: `${query.key}{${keys.join()}}`, query, branches };
}

/** Says of an error in an included query where that is. */
function compiledAt(at: string, { compile, invalid }: ListCode, model: string, query: AnyQuery): ListQuery {
  try {
    return compile(model, query);
  } catch (error) {
    const { code, message, param } = error as SyncError;
    throw param === undefined ? error : invalid(code as InvalidCode, `In ${at}: ${message}`, `${at}.${param}`);
  }
}

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value);

function unknownRelation(model: string, name: string, names: readonly string[]): string {
  const known =
    names.length > 0 ? `It has ${names.join(", ")}.` : 'It has no relations, because no field has "references".';
  return `The model "${model}" has no relation "${name}". ${known}`;
}
