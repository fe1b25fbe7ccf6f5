import type { Storage } from "../engine/ports.ts";

/* A storage may be an app's own, so what it returns is checked before the client builds on it. */

/** The operations that read or write the store. */
export type Operation = Exclude<keyof Storage, "watch" | "close" | "destroy">;

/** Throws if an operation cannot have returned this. */
export function assertSound(operation: Operation, result: unknown, args: readonly unknown[]): void {
  if (!isSound[operation](result, args)) throw new Error(`its "${operation}" returned what it cannot return`);
}

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null;
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isChange = (result: unknown): boolean =>
  isFields(result) && (result.change === undefined || isCount(result.change));

const isMutation = (value: unknown): boolean =>
  isFields(value) &&
  typeof value.clientTxId === "string" &&
  Array.isArray(value.operations) &&
  Array.isArray(value.keys) &&
  isFields(value.stage);

const isRows = (rows: unknown): boolean => isFields(rows) && isFields(rows.tables);

const isQueue = (result: unknown): result is Fields =>
  isFields(result) &&
  Array.isArray(result.mutations) &&
  result.mutations.every(isMutation) &&
  [result.changes, result.lastSeq, result.generation].every(isCount);

const isSnapshot = (result: unknown): boolean => isQueue(result) && (result.rows === undefined || isRows(result.rows));
const isOutcome = (result: unknown): boolean => result === "fenced" || isChange(result);

const isSound: Readonly<Record<Operation, (result: unknown, args: readonly unknown[]) => boolean>> = {
  open: (result) => isQueue(result) && typeof result.clientId === "string" && isRows(result.rows),
  enqueue: (result, [changes]) =>
    isChange(result) &&
    arePlaces((result as Fields).places, changes as readonly { readonly put: readonly unknown[] }[]),
  takeLead: isSnapshot,
  readQueue: isSnapshot,
  keep: isOutcome,
  forget: isOutcome,
  keepRows: (result) => result === "gap" || isOutcome(result),
  keepPage: (result) => ["kept", "fenced", "gap"].includes(result as string),
  keepRecordBytes: () => true,
  own: (result) => typeof result === "string" && /^([^/]+\/){3}.|^[a-z]+:./.test(result),
};

const arePlaces = (places: unknown, changes: readonly { readonly put: readonly unknown[] }[]): boolean =>
  Array.isArray(places) &&
  places.length === changes.length &&
  changes.every(
    ({ put }, i) =>
      places[i] === "refused" ||
      (Array.isArray(places[i]) && places[i].length === put.length && places[i].every(isCount)),
  );
