import type { ModelSchema } from "../../protocol/schema/model-schema.ts";
import type { RelationsOf } from "../../protocol/schema/relations.ts";
import type { ModelName, RowOf } from "../../protocol/schema/row-types.ts";

/** By value of a field, or item of an array: how many records have it. Null: none. */
export type Counts<S extends ModelSchema, M extends ModelName<S>, F extends keyof RowOf<S, M>> = ReadonlyMap<
  Counted<Value<RowOf<S, M>[F]>>,
  number
>;

type Counted<T> = T extends readonly (infer Item)[] ? Item : T;

/** Conditions on a record, all of which must hold. */
export type Where<Row> = {
  readonly [F in keyof Row]?: Asked<Value<Row[F]>> | Operators<Asked<Value<Row[F]>>>;
} & {
  /** `or`: at least one of these holds; `and`: all of them. A field of that name is meant rather than the word. */
  readonly [K in Exclude<"and" | "or", keyof Row>]?: readonly Where<Row>[];
};

/** A date-time may be given as a Date, which a text may not: that throws. Both are strings in a record. */
type Asked<T> = string extends T ? T | Date : T;

/** Use null to match a field that is absent. */
type Value<T> = Exclude<T, undefined> | (undefined extends T ? null : never);

export interface Operators<T> {
  /** Also true of records without a value, unless it is null. */
  readonly not?: T;
  readonly in?: readonly T[];
  readonly notIn?: readonly T[];
  readonly gt?: T;
  readonly gte?: T;
  readonly lt?: T;
  readonly lte?: T;
  /** A part of a text, as it is written; or an item of an array. */
  readonly contains?: Part<T>;
  /** The beginning of a text, as it is written. */
  readonly startsWith?: T extends string ? string : never;
  /** Words that all occur in a text, as parts, in any order, in upper or lower case. */
  readonly search?: T extends string ? string : never;
}

type Part<T> = T extends readonly (infer Item)[] ? Item : T extends string ? string : never;

/** A field to sort by, with a direction of its own or the query's. */
export type SortKey<Row> =
  | (keyof Row & string)
  | {
      readonly field: keyof Row & string;
      readonly order?: "asc" | "desc" | undefined;
      /** For an enum: in the order in which the schema lists its values. */
      readonly by?: "values" | undefined;
    };

/** A place in the order of a query: the id, and the values of the fields in `orderBy`, as a record has them. */
export type Place<Row> = Partial<Row> & { readonly id: string };

/** A query whose records are only counted. */
export type CountQuery<S extends ModelSchema, M extends ModelName<S>> = Pick<
  Query<S, M>,
  "where" | "search" | "archived"
>;

/** `I`: what it includes, if that is known. */
export interface Query<S extends ModelSchema, M extends ModelName<S>, I extends Include<S, M> = NoInclude> {
  readonly where?: Where<RowOf<S, M>> | undefined;
  /** A field, or several: a later one counts where those before are equal. Ids break ties. */
  readonly orderBy?: (keyof RowOf<S, M> & string) | readonly SortKey<RowOf<S, M>>[] | undefined;
  readonly order?: "asc" | "desc" | undefined;
  /** Sorts strings as in this language: `de`, `sv`. Default: by code points. */
  readonly locale?: string | undefined;
  readonly limit?: number | undefined;
  /** Words that all occur in the fields with `index: "text"`, together. */
  readonly search?: string | undefined;
  /** Only the records from this place on, whether or not a record is there. */
  readonly from?: Place<RowOf<S, M>> | undefined;
  /** Only the records before this place, the nearest first. */
  readonly before?: Place<RowOf<S, M>> | undefined;
  readonly archived?: "without" | "only" | "with" | undefined;
  /** False: no records until the rows have been complete once, instead of those of an earlier time. */
  readonly staleOk?: boolean | undefined;
  /** Related records, as fields of each record: `{ project: true, comments: { orderBy: "at", limit: 3 } }`. */
  readonly include?: I | undefined;
}

/** What a query includes: relations by name, each whole (`true`) or with a query of its own. */
export type Include<S extends ModelSchema, M extends ModelName<S>> = {
  readonly [N in keyof RelationsOf<S, M>]?: true | IncludeQuery<S, ModelOf<RelationsOf<S, M>[N], S>>;
};

/** Which related records are included, and in which order. `limit` holds for each record that includes them. */
export type IncludeQuery<S extends ModelSchema, M extends ModelName<S>> = Omit<Query<S, M>, "staleOk" | "include"> & {
  readonly include?: Include<S, M> | undefined;
};

export type NoInclude = Readonly<Record<never, never>>;

/** A record as a query gives it: with the records that the query includes. */
export type QueryRow<S extends ModelSchema, M extends ModelName<S>, I> = keyof I & keyof RelationsOf<S, M> extends never
  ? RowOf<S, M>
  : Simplify<
      Omit<RowOf<S, M>, keyof I> & {
        readonly [N in keyof I & keyof RelationsOf<S, M>]: RelationsOf<S, M>[N] extends { readonly many: false }
          ? Included<S, ModelOf<RelationsOf<S, M>[N], S>, I[N]> | null
          : readonly Included<S, ModelOf<RelationsOf<S, M>[N], S>, I[N]>[];
      }
    >;

type Included<S extends ModelSchema, M extends ModelName<S>, Q> = Q extends { readonly include: infer I }
  ? QueryRow<S, M, I>
  : RowOf<S, M>;

type ModelOf<R, S extends ModelSchema> = R extends { readonly model: infer M extends ModelName<S> } ? M : never;
type Simplify<T> = { [K in keyof T]: T[K] };
