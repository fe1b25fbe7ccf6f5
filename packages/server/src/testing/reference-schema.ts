import { readFileSync } from "node:fs";
import type { ModelSchema } from "@holdfast/sdk/protocol";

/** The schema that ships with the project. It has every model that the API names. */
export const referenceSchema = JSON.parse(
  readFileSync(new URL("../../reference-schema.json", import.meta.url), "utf8"),
) as ModelSchema;
