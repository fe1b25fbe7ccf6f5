import type { DeclaredValue, DeclaredValues } from "../../schema/rules/declared-values.ts";
import type { CommitRequest } from "./commit-request.ts";

/** A record by its name. */
export interface NamedRecord {
  readonly model: string;
  readonly id: string;
}

/** A value of a declaration, as it is kept. */
export interface NamedValue {
  readonly model: string;
  readonly declared: DeclaredValue;
  readonly text: string;
}

/**
 * Which records have a value, and what is still to be loaded to know. A round is judged with what is known; if something
 * was missing, it is loaded, and the round is judged again from the start:
 *
 *   judge ─► nothing missing ─► save
 *     ▲            │
 *     └── load ◄───┘ values, the records that have them, records that are referenced
 *
 * So nothing has to foresee which values a commit takes, or how far a delete reaches.
 */
export interface RecordValues {
  readonly declared: DeclaredValues;
  /** By `valueKey`: the records that have the value, and those that had it when it was loaded. */
  readonly holders: Map<string, Set<string>>;
  /** By `recordKey`: whether a record that was not named by a commit exists. */
  readonly existing: ReadonlyMap<string, boolean>;
  /** The values of further records did not fit into memory. */
  readonly isFull: boolean;
  readonly missing: MissingValues;
  /** Commits whose judgement has missed something. */
  readonly incomplete: Set<CommitRequest>;
  /** Commits that are judged no more, because it takes too long. */
  readonly ended: ReadonlySet<CommitRequest>;
  /** By `recordKey`: the records whose values the round has changed. */
  readonly changed: Map<string, NamedRecord>;
}

/** What a judgement needed and did not know. */
export interface MissingValues {
  readonly holders: Map<string, NamedValue>;
  /** Whether they exist. */
  readonly targets: Map<string, NamedRecord>;
  /** Their values. */
  readonly records: Map<string, NamedRecord>;
  /** How often something was missing. */
  times: number;
}

/** What was loaded of them. */
export interface FoundValues {
  readonly holders: ReadonlyMap<string, readonly string[]>;
  readonly existing: ReadonlyMap<string, boolean>;
  readonly isFull: boolean;
  readonly ended: ReadonlySet<CommitRequest>;
}

export const NO_VALUES: FoundValues = { holders: new Map(), existing: new Map(), isFull: false, ended: new Set() };

export const recordValues = (
  declared: DeclaredValues,
  { holders, existing, isFull, ended }: FoundValues,
): RecordValues => ({
  declared,
  holders: new Map([...holders].map(([key, ids]) => [key, new Set(ids)])),
  existing,
  isFull,
  missing: { holders: new Map(), targets: new Map(), records: new Map(), times: 0 },
  incomplete: new Set(),
  ended,
  changed: new Map(),
});

/** Notes something that a judgement needs and does not know. */
export function noteMissing<T>(missing: MissingValues, of: Map<string, T>, key: string, value: T): void {
  of.set(key, value);
  missing.times += 1;
}

export const isMissing = ({ missing }: RecordValues): boolean =>
  missing.holders.size + missing.targets.size + missing.records.size > 0;

export const valueKey = ({ model, declared, text }: NamedValue): string => `${model} ${declared.name} ${text}`;
