import type { Model } from "@holdfast/sdk/protocol";
import type { Database } from "../../connection/pool.ts";
import type { Transaction } from "../../connection/transaction.ts";
import type { LiveSchema } from "../../schema/flows/schema-cache.ts";
import type { DeclaredModel } from "../../schema/rules/declared-model.ts";
import type { RecordRelation } from "../db/record-relation.ts";

/**
 * The relations where a module has the records of some models, in place of `holdfast.record`. By which key a schema says so
 * (`table`, `source`), the kernel knows from the protocol: such models have no unique fields and no checked references.
 */
export interface RecordPlaces {
  /** Whether it has the records of a model. */
  has(model: Model): boolean;
  /** The relations of a tenant, by model in lower case. */
  of(db: Transaction, tenant: number): Promise<Relations>;
  /** Of some of its models, in lower case: whether there are records. Of a relation that cannot be read, there are some. */
  filled(tx: Transaction, tenant: number, models: readonly string[]): Promise<ReadonlyMap<string, boolean>>;
  /** Waits, for a moment, until the log has what others have committed there. */
  awaitLog(db: Database, tenant: number): Promise<void>;
}

export type Relations = ReadonlyMap<string, RecordRelation>;

/** Of several modules, as one. */
export const allPlaces = (places: readonly RecordPlaces[]): RecordPlaces => ({
  has: (model) => places.some(({ has }) => has(model)),
  of: async (db, tenant) => merged(await Promise.all(places.map(({ of }) => of(db, tenant)))),
  filled: async (tx, tenant, models) =>
    merged(await Promise.all(places.map(({ filled }) => filled(tx, tenant, models)))),
  async awaitLog(db, tenant) {
    for (const place of places) await place.awaitLog(db, tenant);
  },
});

const merged = <T>(maps: readonly ReadonlyMap<string, T>[]): ReadonlyMap<string, T> =>
  new Map(maps.flatMap((map) => [...map]));

/** Where the records of a model are. Undefined: Holdfast keeps them itself. */
export const relationOf = async (
  places: RecordPlaces,
  db: Transaction,
  tenant: number,
  { name, model }: DeclaredModel,
): Promise<RecordRelation | undefined> =>
  places.has(model) ? (await places.of(db, tenant)).get(name.toLowerCase()) : undefined;

/** Whether the records of some models of a schema are there. */
export const hasSome = ({ has }: RecordPlaces, { models }: Pick<LiveSchema, "models">): boolean =>
  [...models.values()].some(({ model }) => has(model));
