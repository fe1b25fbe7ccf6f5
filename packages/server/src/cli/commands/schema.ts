import { readFile } from "node:fs/promises";
import type { ModelSchema, Rename, SchemaPushed, SchemaRead } from "@holdfast/sdk/protocol";
import type { Command } from "commander";
import { filePath } from "../file-path.ts";
import { request } from "../request.ts";
import { secretKeyTarget } from "../target.ts";
import type { CommonOptions, Terminal } from "../terminal.ts";
import { UsageError } from "../usage-error.ts";

interface Options extends CommonOptions {
  readonly key?: string;
  readonly test?: boolean;
}

/** `schema push`, `schema show`. */
export function addSchema(program: Command, { env, out, say }: Terminal): void {
  const schema = program.command("schema").description("the models of a tenant");
  schema
    .command("push <file>")
    .description("push the models in a JSON file to the tenant, or list the problems")
    .option("--key <sk_…>", "secret key (default: HOLDFAST_SECRET_KEY, else the one in the data directory)")
    .option("--test", "the test tenant, with the stored key")
    .option("--force", "push even if it hides data; hidden data stays stored")
    .option("--rename <model.from=to>", "a field that has a new name; may be repeated", collect, [])
    .action(async (file: string, _, command: Command) => {
      const options = command.optsWithGlobals<Options & { force?: boolean; rename: string[] }>();
      const renames = options.rename.map(renameOf);
      const pushed = await request<SchemaPushed>(secretKeyTarget(options, env), "POST", "/v1/schema", {
        models: await readModels(filePath(file, env)),
        ...(options.force && { force: true }),
        ...(renames.length > 0 && { renames }),
      });
      if (options.json) return void out(`${JSON.stringify(pushed)}\n`);
      for (const warning of pushed.warnings) say(`warning: ${warning}`);
      out(
        `${pushed.unchanged ? "unchanged" : "pushed"}: version ${pushed.version}, hash ${pushed.hash.slice(0, 12)}\n`,
      );
    });
  schema
    .command("show")
    .description("print the tenant's models as JSON that can be pushed")
    .option("--key <sk_…>", "secret key")
    .option("--test", "the test tenant, with the stored key")
    .action(async (_, command: Command) => {
      const { models } = await request<SchemaRead>(
        secretKeyTarget(command.optsWithGlobals<Options>(), env),
        "GET",
        "/v1/schema",
      );
      out(`${JSON.stringify({ models }, null, 2)}\n`);
    });
}

async function readModels(file: string): Promise<ModelSchema["models"]> {
  const text = await readFile(file, "utf8").catch((error: Error) => {
    throw new UsageError(`The schema cannot be read: ${error.message}`);
  });
  let schema: Partial<ModelSchema> | null;
  try {
    schema = JSON.parse(text) as Partial<ModelSchema> | null;
  } catch (error) {
    throw new UsageError(`${file} is not JSON: ${(error as Error).message}`);
  }
  if (schema?.models === undefined) throw new UsageError(`${file} must be a JSON object with "models".`);
  return schema.models;
}

const collect = (value: string, before: readonly string[]): string[] => [...before, value];

function renameOf(text: string): Rename {
  const [, model, from, to] = /^([^.=]+)\.([^.=]+)=([^.=]+)$/.exec(text) ?? [];
  if (model === undefined || from === undefined || to === undefined)
    throw new UsageError(`--rename must be <model>.<from>=<to> (got "${text}").`);
  return { model, from, to };
}
