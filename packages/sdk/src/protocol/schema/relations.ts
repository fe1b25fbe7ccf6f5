import type { Field, ModelSchema } from "./model-schema.ts";
import type { ModelName } from "./row-types.ts";

/** What a query of a model can include. */
export interface Relation {
  /** The model of the included records. */
  readonly model: string;
  /** The field with the ids: of the model itself, or, if it is inverse, of the included one. */
  readonly field: string;
  /** `one`: the field has an id; `many`: an array of ids; `inverse`: the included records have this record's id. */
  readonly kind: "one" | "many" | "inverse";
}

type Models = ModelSchema["models"];
type Fields = Readonly<Record<string, Field>>;

/**
 * What queries of a model can include, by name. A field that references has a relation of its own name without `Id`
 * (`projectId`: `project`, `labelIds`: `labels`); one with `inverse` has a second relation, of that name, at the other
 * model.
 */
export function relationsOf(models: Models, model: string): ReadonlyMap<string, Relation> {
  const relations = new Map<string, Relation>();
  for (const [other, { fields }] of Object.entries(models))
    for (const [field, { references, inverse, type }] of Object.entries(fields)) {
      if (references === undefined) continue;
      if (isSame(other, model))
        relations.set(relationName(field, fields), {
          model: references,
          field,
          kind: type === "array" ? "many" : "one",
        });
      if (inverse !== undefined && isSame(references, model))
        relations.set(inverse, { model: other, field, kind: "inverse" });
    }
  return relations;
}

const isSame = (model: string, other: string) => model.toLowerCase() === other.toLowerCase();

/** The name of the relation of a field that references. If another field has the short name, the field's own. */
export function relationName(field: string, fields: Fields): string {
  const short = field.replace(/(?<=.)(?:_id|Id)(s?)$/, "$1");
  return short !== field && Object.hasOwn(fields, short) ? field : short;
}

type Short<F extends string> = F extends `${infer Stem}${"_ids" | "Ids"}`
  ? `${Stem}s`
  : F extends `${infer Stem}${"_id" | "Id"}`
    ? Stem
    : F;
type NameOf<F extends string, Names> = "" extends Short<F> ? F : Short<F> extends Exclude<Names, F> ? F : Short<F>;

type FieldsOf<S extends ModelSchema, M extends ModelName<S>> = S["models"][M]["fields"];

type OwnRelations<S extends ModelSchema, M extends ModelName<S>> = {
  readonly [F in keyof FieldsOf<S, M> & string as FieldsOf<S, M>[F] extends { references: ModelName<S> }
    ? NameOf<F, keyof FieldsOf<S, M>>
    : never]: FieldsOf<S, M>[F] extends { references: infer To extends ModelName<S> }
    ? { readonly model: To; readonly many: FieldsOf<S, M>[F] extends { type: "array" } ? true : false }
    : never;
};

/** Pairs of a name and a model whose records reference M. */
type Inverses<S extends ModelSchema, M extends ModelName<S>> = {
  [X in ModelName<S>]: {
    [F in keyof FieldsOf<S, X>]: FieldsOf<S, X>[F] extends { references: M; inverse: infer N extends string }
      ? readonly [N, X]
      : never;
  }[keyof FieldsOf<S, X>];
}[ModelName<S>];

type InverseRelations<S extends ModelSchema, M extends ModelName<S>> = {
  readonly [P in Inverses<S, M> as P[0]]: { readonly model: P[1]; readonly many: true };
};

/** The relations of a model by name, each with its model and whether it has several records. */
export type RelationsOf<S extends ModelSchema, M extends ModelName<S>> = OwnRelations<S, M> & InverseRelations<S, M>;
