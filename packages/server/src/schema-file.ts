import { readFile } from "node:fs/promises";
import { errorSentences, SchemaPush } from "@holdfast/sdk/protocol";
import { ConfigError } from "./config.ts";
import { shapeCheck } from "./edge/payload/shape-check.ts";
import type { Refusal } from "./kernel/refusal.ts";
import { spelledProblem } from "./kernel/schema/rules/schema-push.ts";

const check = shapeCheck(SchemaPush);

/** Reads the file that HOLDFAST_SCHEMA names, in the form of a push. Throws `ConfigError`. */
export async function readSchemaFile(file: string): Promise<SchemaPush> {
  const text = await readFile(file, "utf8").catch((error: Error) => {
    throw new ConfigError(`HOLDFAST_SCHEMA cannot be read: ${error.message}`);
  });
  let schema: unknown;
  try {
    schema = JSON.parse(text);
  } catch (error) {
    throw new ConfigError(`HOLDFAST_SCHEMA (${file}) is not JSON: ${(error as Error).message}`);
  }
  const refusal = check(schema);
  if (refusal) throw schemaTrouble(file, refusal);
  return schema as SchemaPush;
}

/** Why the schema file could not be pushed, in sentences. */
export function schemaTrouble(file: string, { code, param, message, problems }: Refusal): ConfigError {
  const why = problems
    ? problems.map((problem) => `\n  ${spelledProblem(problem)}`).join("")
    : ` ${param === undefined ? "" : `${param}: `}${message ?? errorSentences[code]}`;
  return new ConfigError(`HOLDFAST_SCHEMA (${file}) cannot be pushed (${code}):${why}`);
}
