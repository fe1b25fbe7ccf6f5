import { modelFingerprint, type SpelledModel, shortHash } from "@holdfast/sdk/protocol";
import type { DeclaredModel, SchemaChange } from "./declared-model.ts";
import { type FieldNames, fieldNames } from "./field-names.ts";

/** What a client says of its schema: a version, or the fingerprints of its models. */
export type SaidSchema =
  | { readonly kind: "version"; readonly version: number }
  | { readonly kind: "models"; readonly fingerprints: readonly string[] };

const VERSION = /^[1-9]\d{0,5}$/;
const FINGERPRINTS = /^(?:[0-9a-z]{7}(?:,[0-9a-z]{7}){0,199})?$/;

/** Undefined: neither. A client without any model says nothing, which is an empty list. */
export function readSaid(text: string): SaidSchema | undefined {
  if (VERSION.test(text)) return { kind: "version", version: Number(text) };
  if (!FINGERPRINTS.test(text)) return undefined;
  return { kind: "models", fingerprints: text === "" ? [] : text.split(",") };
}

/** How one client spells the fields of its models. Models with the same names on both sides are not listed. */
export interface ClientNames {
  /** Equal for clients that spell everything alike, so that they share what is made for them. */
  readonly key: string;
  /** By lower-case model. */
  readonly models: ReadonlyMap<string, FieldNames>;
  /** When the first of these models got other names, in ms. */
  readonly olderSince: number;
}

/**
 * The `rowsVersion` that such a client gets. Rows that were read under other names count as changed without an entry, so
 * a newer version of an app reads them again. It is as unlikely to be that of another version as two hashes are equal.
 */
export const rowsVersionIn = ({ key }: ClientNames, rowsVersion: number): number =>
  Number.parseInt(shortHash(`${rowsVersion} ${key}`), 36);

/** The models of a tenant at an earlier version. */
export interface PastSchema {
  readonly version: number;
  readonly models: Readonly<Record<string, SpelledModel>>;
  /** By lower-case name, oldest first. */
  readonly changes: (model: string) => readonly SchemaChange[];
  /** When the next version was stored, in ms. */
  readonly supersededAt: number;
}

interface OlderModel {
  readonly model: string;
  readonly names: FieldNames;
  readonly olderSince: number;
}

/** The older forms of a tenant's models that have other field names now. */
export interface OlderModels {
  readonly byFingerprint: ReadonlyMap<string, OlderModel>;
  readonly byVersion: ReadonlyMap<number, readonly OlderModel[]>;
}

/** `past`: newest first. Of several versions of a model with the same names, the newest counts. */
export function olderModels(
  past: Iterable<PastSchema>,
  current: ReadonlyMap<string, Pick<DeclaredModel, "name" | "model" | "changes">>,
): OlderModels {
  const byFingerprint = new Map<string, OlderModel>();
  const byVersion = new Map<number, OlderModel[]>();
  const seen = new Set([...current.values()].map(({ name, model }) => modelFingerprint(name, model)));
  /** By model, of the version after: versions between which no name changed are one. */
  const next = new Map<string, { readonly fingerprint: string; readonly olderSince: number }>();
  for (const { version, models, changes, supersededAt } of past)
    for (const [name, model] of Object.entries(models)) {
      const key = name.toLowerCase();
      const now = current.get(key);
      if (!now?.changes.some(isRename)) continue;
      const later = now.changes.slice(changes(key).length);
      const names = fieldNames(Object.keys(model.fields), later, Object.keys(now.model.fields));
      const fingerprint = modelFingerprint(name, model);
      const after = next.get(key);
      const olderSince = after?.fingerprint === fingerprint ? after.olderSince : supersededAt;
      next.set(key, { fingerprint, olderSince });
      const older = names && { model: key, names, olderSince };
      if (older) byVersion.set(version, [...(byVersion.get(version) ?? []), older]);
      if (older && !seen.has(fingerprint)) byFingerprint.set(fingerprint, older);
      seen.add(fingerprint);
    }
  return { byFingerprint, byVersion };
}

const isRename = ({ renames }: SchemaChange): boolean => Object.keys(renames).length > 0;

/** The names of a client with this schema. Undefined: the current ones, or unknown ones, which are not translated. */
export function clientNames({ byFingerprint, byVersion }: OlderModels, said: SaidSchema): ClientNames | undefined {
  const found =
    said.kind === "version"
      ? (byVersion.get(said.version) ?? [])
      : said.fingerprints.flatMap((fingerprint) => byFingerprint.get(fingerprint) ?? []);
  if (found.length === 0) return undefined;
  const models = new Map(found.map(({ model, names }) => [model, names]));
  return {
    key: JSON.stringify([...models].sort().map(([model, { toNew, toOld }]) => [model, [...toNew], [...toOld]])),
    models,
    olderSince: Math.min(...found.map(({ olderSince }) => olderSince)),
  };
}
