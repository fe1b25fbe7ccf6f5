import { shortHash, sortedJson } from "../short-hash.ts";
import type { Field } from "./model-schema.ts";

/** The part of a model that decides how its records are spelled. */
export type SpelledModel = { readonly fields: Readonly<Record<string, Pick<Field, "type">>> };

const LENGTH = 7;

/** The names and types of a model's fields as 7 letters and digits. Two models collide with a probability of 2^-36. */
export const modelFingerprint = (name: string, { fields }: SpelledModel): string => {
  const spelled = Object.entries(fields).map(([field, { type }]) => `${field} ${type}`);
  return shortHash(sortedJson([name.toLowerCase(), spelled.sort()])).slice(-LENGTH);
};

/**
 * What a client says of its schema: the fingerprint of each of its models. One for all of them would not do, since an
 * app may declare only some of the models.
 */
export const schemaFingerprint = (models: Readonly<Record<string, SpelledModel>>): string =>
  Object.entries(models)
    .map(([name, model]) => modelFingerprint(name, model))
    .sort()
    .join(",");
