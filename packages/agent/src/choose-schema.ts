import { readFile } from "node:fs/promises";
import type { ModelSchema } from "@holdfast/sdk";
import { type Words, WordsError } from "./mcp-words.ts";

const TIMEOUT_MS = 10_000;

/** The models that the tools will know: of a file, or those that the server has; of them the ones that were asked for. */
export async function chooseSchema(words: Words): Promise<ModelSchema> {
  const { models } = words.schemaFile === undefined ? await ofServer(words) : await ofFile(words.schemaFile);
  if (typeof models !== "object" || models === null) throw new WordsError("The schema has no models.");
  const unknown = words.models?.find((name) => !Object.hasOwn(models, name));
  if (unknown !== undefined)
    throw new WordsError(`There is no model "${unknown}". There are: ${Object.keys(models).join(", ")}.`);
  const chosen = Object.entries(models).filter(([name]) => words.models?.includes(name) ?? true);
  if (chosen.length === 0) throw new WordsError("There are no models yet: push a schema to the server first.");
  return { models: Object.fromEntries(chosen) };
}

async function ofFile(file: string): Promise<ModelSchema> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as ModelSchema;
  } catch (error) {
    throw new WordsError(`--schema cannot be read: ${(error as Error).message}`);
  }
}

async function ofServer({ url, token }: Words): Promise<ModelSchema> {
  const address = `${url.replace(/\/+$/, "").replace(/\/api$/, "")}/v1/schema`;
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(address, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) }).catch((error: Error) => {
    throw new WordsError(`${url} does not answer (${(error.cause as Error | undefined)?.message ?? error.message}).`);
  });
  const body = (await answer.json().catch(() => ({}))) as ModelSchema & { code?: string; message?: string };
  if (!answer.ok)
    throw new WordsError(
      `${url} answered ${answer.status}: ${body.message ?? "no reason"} (${body.code ?? "no code"})`,
    );
  return body;
}
