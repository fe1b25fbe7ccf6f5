import { readFile } from "node:fs/promises";
import type { ModelSchema } from "@holdfast/sdk";
import { type McpArgs, UsageError } from "./mcp-args.ts";

const TIMEOUT_MS = 10_000;

/** The models of the tools: from a file or from the server, narrowed to the requested ones. */
export async function chooseSchema(
  args: Pick<McpArgs, "url" | "schemaFile" | "models">,
  token: () => Promise<string>,
): Promise<ModelSchema> {
  const { models } =
    args.schemaFile === undefined
      ? await callServer<ModelSchema>(args.url, "/v1/schema", await token())
      : await ofFile(args.schemaFile);
  if (typeof models !== "object" || models === null) throw new UsageError("The schema has no models.");
  const unknown = args.models?.find((name) => !Object.hasOwn(models, name));
  if (unknown !== undefined)
    throw new UsageError(`There is no model "${unknown}". The models are: ${Object.keys(models).join(", ")}.`);
  const chosen = Object.entries(models).filter(([name]) => args.models?.includes(name) ?? true);
  if (chosen.length === 0) throw new UsageError("The server has no models yet. Push a schema first.");
  return { models: Object.fromEntries(chosen) };
}

async function ofFile(file: string): Promise<ModelSchema> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as ModelSchema;
  } catch (error) {
    throw new UsageError(`--schema cannot be read: ${(error as Error).message}`);
  }
}

/** Splits the chosen models into those that the token may read and the others. */
export async function coveredModels(
  { models }: ModelSchema,
  url: string,
  token: string,
): Promise<{ covered: ModelSchema; left: readonly string[] }> {
  const query = new URLSearchParams({ limit: "1" });
  for (const name of Object.keys(models)) query.append("model", name);
  const page = await callServer<{ models: readonly string[] }>(url, `/v1/log?${query}`, token);
  const there = new Set(page.models.map((name) => name.toLowerCase()));
  const isCovered = ([name]: [string, unknown]) => there.has(name.toLowerCase());
  return {
    covered: { models: Object.fromEntries(Object.entries(models).filter(isCovered)) },
    left: Object.keys(models).filter((name) => !there.has(name.toLowerCase())),
  };
}

async function callServer<T>(url: string, path: string, token: string): Promise<T> {
  const address = `${url.replace(/\/+$/, "").replace(/\/api$/, "")}${path}`;
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(address, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) }).catch((error: Error) => {
    throw new UsageError(
      `The server at ${url} does not answer (${(error.cause as Error | undefined)?.message ?? error.message}).`,
    );
  });
  const body = (await answer.json().catch(() => ({}))) as T & { code?: string; message?: string };
  if (!answer.ok)
    throw new UsageError(
      `${url} answered ${answer.status}: ${body.message ?? "no reason"} (${body.code ?? "no code"})`,
    );
  return body;
}
