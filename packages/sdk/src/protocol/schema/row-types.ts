import type { Change } from "../commits/change.ts";
import type { Item } from "../commits/field-change.ts";
import type { Json } from "../json.ts";
import type { Field, ItemType, ModelSchema } from "./model-schema.ts";

export type ModelName<S extends ModelSchema> = keyof S["models"] & string;

type ValueOf<F> = F extends { type: "string" | "datetime" }
  ? string
  : F extends { type: "number" | "integer" }
    ? number
    : F extends { type: "boolean" }
      ? boolean
      : F extends { type: "enum"; values: readonly (infer V extends string)[] }
        ? V
        : F extends { type: "array"; items: infer T }
          ? readonly ItemOf<T>[]
          : F extends { type: "array" }
            ? readonly Json[]
            : Json;
type ItemOf<T> = T extends "string" ? string : T extends "boolean" ? boolean : T extends ItemType ? number : Json;
type Nullable<F> = F extends { nullable: true } ? null : never;
type FieldsOf<S extends ModelSchema, M extends ModelName<S>> = S["models"][M]["fields"];
/** Rows from before such a default are without a value. */
type Filled = { type: "string"; default: "$participant" } | { type: "datetime"; default: "$now" };
type Present<F> = F extends { required: true }
  ? true
  : F extends Filled
    ? false
    : F extends { default: unknown }
      ? true
      : false;
type Required_<F> = F extends { required: true } ? (F extends { default: unknown } ? false : true) : false;
type KeysWhere<Fields, Test extends boolean, Which extends "present" | "required"> = {
  [K in keyof Fields]: (Which extends "present" ? Present<Fields[K]> : Required_<Fields[K]>) extends Test ? K : never;
}[keyof Fields];
type Simplify<T> = { [K in keyof T]: T[K] };

/** The values of a record: `id`, then the declared fields; those without `required` or `default` may be absent. */
export type DataOf<S extends ModelSchema, M extends ModelName<S>> = Simplify<
  { readonly id: string } & {
    readonly [K in KeysWhere<FieldsOf<S, M>, true, "present"> & string]: Value<FieldsOf<S, M>[K]>;
  } & { readonly [K in KeysWhere<FieldsOf<S, M>, false, "present"> & string]?: Value<FieldsOf<S, M>[K]> }
>;

/**
 * What the server knows of a record. Undefined: it is not known yet, or the server does not say it. Of a pending write,
 * what the server will probably say.
 */
export interface RowFacts {
  readonly $createdAt?: string | undefined;
  /** `<kind>:<id>` of the participant that created it. */
  readonly $createdBy?: string | undefined;
  readonly $updatedAt?: string | undefined;
  /** `<kind>:<id>` of the last writer. */
  readonly $updatedBy?: string | undefined;
  /** Null: it is not archived. */
  readonly $archivedAt?: string | null | undefined;
  /** Position of its last entry in the log. */
  readonly $syncId?: number | undefined;
}

/** A record of model M as the client gives it: its values, and what the server knows of it. */
export type RowOf<S extends ModelSchema, M extends ModelName<S>> = Simplify<DataOf<S, M> & RowFacts>;
type Value<F> = ValueOf<F> | Nullable<F>;

/** What a create takes: required fields without a default have to be there. */
export type NewRow<S extends ModelSchema, M extends ModelName<S>> = Simplify<
  { readonly [K in KeysWhere<FieldsOf<S, M>, true, "required"> & string]: Value<FieldsOf<S, M>[K]> } & {
    readonly [K in KeysWhere<FieldsOf<S, M>, false, "required"> & string]?: Value<FieldsOf<S, M>[K]>;
  }
>;

/** What an update takes in place of a value: `increment` of a number, `add` and `remove` of an array's items. */
type ChangeOf<F> = F extends { type: "number" | "integer" }
  ? Change<number>
  : F extends { type: "array"; items: infer T }
    ? Change<readonly ItemOf<T>[]>
    : F extends { type: "array" }
      ? Change<readonly Item[]>
      : never;

/** What an update takes: any of the fields that can change. */
export type Patch<S extends ModelSchema, M extends ModelName<S>> = Partial<{
  readonly [K in keyof FieldsOf<S, M> & string as FieldsOf<S, M>[K] extends { readonlyAfterCreate: true } ? never : K]:
    | Value<FieldsOf<S, M>[K]>
    | ChangeOf<FieldsOf<S, M>[K]>;
}>;

/** Lends a schema literal its exact types: `defineSchema({ models: { slide: { … } } })`. */
export function defineSchema<
  const S extends {
    readonly models: Readonly<
      Record<
        string,
        {
          readonly fields: Readonly<Record<string, Field>>;
          /** Is a part of `table`: only a table has such a column. */
          readonly archived?: never;
        }
      >
    >;
  } & ModelSchema,
>(schema: S): S {
  return schema;
}
