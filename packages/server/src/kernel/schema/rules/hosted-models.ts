import type { Model } from "@holdfast/sdk/protocol";

type Models = Readonly<Record<string, Model>>;

/** The models as they are without tables and services of the caller's: their records are stored beside the log. */
export const hostedModels = (models: Models): Models =>
  Object.fromEntries(Object.entries(models).map(([name, { table: _, source: __, ...hosted }]) => [name, hosted]));
