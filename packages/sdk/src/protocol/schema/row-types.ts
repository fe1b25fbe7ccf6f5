import type { Json } from "../json.ts";
import type { Field, ModelSchema } from "./model-schema.ts";

export type ModelName<S extends ModelSchema> = keyof S["models"] & string;

type ValueOf<F> = F extends { type: "string" | "datetime" }
  ? string
  : F extends { type: "number" | "integer" }
    ? number
    : F extends { type: "boolean" }
      ? boolean
      : F extends { type: "enum"; values: readonly (infer V extends string)[] }
        ? V
        : F extends { type: "array" }
          ? readonly Json[]
          : Json;
type Nullable<F> = F extends { nullable: true } ? null : never;
type FieldsOf<S extends ModelSchema, M extends ModelName<S>> = S["models"][M]["fields"];
type Present<F> = F extends { required: true } ? true : F extends { default: unknown } ? true : false;
type Required_<F> = F extends { required: true } ? (F extends { default: unknown } ? false : true) : false;
type KeysWhere<Fields, Test extends boolean, Which extends "present" | "required"> = {
  [K in keyof Fields]: (Which extends "present" ? Present<Fields[K]> : Required_<Fields[K]>) extends Test ? K : never;
}[keyof Fields];
type Simplify<T> = { [K in keyof T]: T[K] };

/**
 * A record of model M as it is read: `id`, then the declared fields; those without `required` or `default` may be
 * absent.
 */
export type RowOf<S extends ModelSchema, M extends ModelName<S>> = Simplify<
  { readonly id: string } & {
    readonly [K in KeysWhere<FieldsOf<S, M>, true, "present"> & string]: Value<FieldsOf<S, M>[K]>;
  } & { readonly [K in KeysWhere<FieldsOf<S, M>, false, "present"> & string]?: Value<FieldsOf<S, M>[K]> }
>;
type Value<F> = ValueOf<F> | Nullable<F>;

/** What a create takes: required fields without a default have to be there. */
export type NewRow<S extends ModelSchema, M extends ModelName<S>> = Simplify<
  { readonly [K in KeysWhere<FieldsOf<S, M>, true, "required"> & string]: Value<FieldsOf<S, M>[K]> } & {
    readonly [K in KeysWhere<FieldsOf<S, M>, false, "required"> & string]?: Value<FieldsOf<S, M>[K]>;
  }
>;

/** What an update takes: any of the fields. */
export type Patch<S extends ModelSchema, M extends ModelName<S>> = Partial<{
  readonly [K in keyof FieldsOf<S, M> & string]: Value<FieldsOf<S, M>[K]>;
}>;

/** Lends a schema literal its exact types: `defineSchema({ models: { slide: { … } } })`. */
export function defineSchema<
  const S extends {
    readonly models: Readonly<Record<string, { readonly fields: Readonly<Record<string, Field>> }>>;
  } & ModelSchema,
>(schema: S): S {
  return schema;
}
