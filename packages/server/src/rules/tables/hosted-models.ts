import type { Model } from "@holdfast/sdk/protocol";

type Models = Readonly<Record<string, Model>>;

/** The models as they are without tables and services of the caller's: their records are stored beside the log. */
export const hostedModels = (models: Models): Models =>
  Object.fromEntries(Object.entries(models).map(([name, { table: _, source: __, ...hosted }]) => [name, hosted]));

export const hasTables = (models: Models): boolean => Object.values(models).some(({ table }) => table !== undefined);

/** The datasources that models name. */
export const sourcesOf = (models: Models): readonly string[] => [
  ...new Set(Object.values(models).flatMap(({ source }) => source ?? [])),
];

export const hasSources = (models: Models): boolean => sourcesOf(models).length > 0;
