import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { referenceSchema } from "../dev/project.ts";
import { schema } from "./schema.ts";

test("the board's models are those of the reference schema", async () => {
  const shipped = JSON.parse(await readFile(referenceSchema, "utf8")) as { models: Record<string, unknown> };
  for (const [name, model] of Object.entries(schema.models))
    expect({ [name]: model }).toEqual({ [name]: shipped.models[name] });
});
