import type { Row } from "../../protocol/commits/apply.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { Mutation } from "./mutation.ts";

/* Writes keep the last values of records that are gone. */

/** As the first of these writes that has them. */
export const lostValues = (writes: readonly Mutation[], key: string): JsonObject | undefined =>
  writes.find(({ lost }) => lost?.[key])?.lost?.[key];

/** Since when the record was archived. */
export const archivedSince = (writes: readonly Mutation[], key: string): string | null =>
  writes.find(({ lost }) => lost?.[key])?.archived?.[key] ?? null;

/** The same write, with the last values of one of its records. */
export function withLost(m: Mutation, key: string, { data, archivedAt }: Row): Mutation {
  const { [key]: _, ...others } = m.archived ?? {};
  const archived = archivedAt === null ? others : { ...others, [key]: archivedAt };
  return { ...m, lost: { ...m.lost, [key]: data }, archived };
}

/** Last values of a record that is not shown any more, though writes to it are on their way. */
export const HIDDEN: JsonObject = {};

export const isHidden = (data: JsonObject): boolean => Object.keys(data).length === 0;

/** The same write, without the last values of one of its records. */
export function withoutLost(m: Mutation, key: string): Mutation {
  const { [key]: _, ...lost } = m.lost ?? {};
  const { [key]: __, ...archived } = m.archived ?? {};
  return { ...m, lost, archived };
}
