import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import type { TableTools, TenantChoice } from "../../modules/tables/flows/table-tools.ts";
import type { DerivedTable } from "../../modules/tables/rules/derive-models.ts";
import { isYes } from "../ask.ts";
import { readEnv, withVariables } from "../env-file.ts";
import { modelsSource, programSource, schemaSource } from "../init/source-files.ts";
import { table } from "../table.ts";
import type { Terminal } from "../terminal.ts";
import { UsageError } from "../usage-error.ts";
import { type Attachable, attachAll, isAttachable, modelsOf, refuseWithoutRights, remarks } from "./tables.ts";

interface Options {
  readonly tables?: string;
  readonly yes?: boolean;
}

const ENV = ".env";
const SCHEMA = "schema.ts";
const PROGRAM = "first.mjs";

/** `init`: from the folder of an app that has a database to its rows in a client. */
export function addInit(program: Command, terminal: Terminal): void {
  program
    .command("init")
    .description("make tables of this folder's database (DATABASE_URL, also in .env) live, and write a first program")
    .option("--tables <names>", "these tables, with commas between (default: asks; with --yes all that can be)")
    .option("--yes", "do not ask")
    .addHelpText(
      "after",
      `
Writes ${SCHEMA} and ${PROGRAM} unless they exist, and adds keys to ${ENV}. Run again, it goes on with further tables.
For keys that you have, set HOLDFAST_SECRET_KEY and HOLDFAST_MASTER_KEY.`,
    )
    .action(async (options: Options) => {
      const env = readEnvironment(terminal);
      const { say, out, folder, ask } = terminal;
      const database = { databaseUrl: env.databaseUrl };
      const reading = { ...database, migrates: false };
      const found = await terminal.withTables((tools) => derive(tools, options, env), reading);
      const names = (await choose(found, options, terminal)).map(({ table }) => table.sqlName);
      const chosen = await terminal.withTables(async (tools) => {
        // A model may reference only those that are attached with it, and comes after them.
        const derived = (await tools.inspect(names)).filter(isAttachable);
        await refuseWithoutRights(tools, derived);
        return derived;
      }, reading);
      for (const line of remarks(chosen)) say(line);
      say(planOf(chosen, env));
      if (!options.yes && !(ask && isYes(await ask("Go on? [y/N] ")))) throw new UsageError("Nothing was changed.");
      await terminal.withTables(async (tools) => {
        const tenant = await tenantFor(tools, env);
        const stopping = terminal.interrupted();
        await attachAll(tools, tenant, chosen, terminal, { stopping });
      }, database);
      const models = modelsOf(chosen);
      if (!writeNew(join(folder, SCHEMA), schemaSource({ models }), terminal))
        say(`Add to its models, unless they are there:\n\n${modelsSource(models)}`);
      const program = programSource((chosen[0] as Attachable).modelName);
      if (writeNew(join(folder, PROGRAM), program, terminal)) say(`\n${program}`);
      const printed = await terminal.runOnce(PROGRAM, { ...env.keys, DATABASE_URL: env.databaseUrl });
      if (printed === undefined) say("To run it: npm install @holdfast/sdk");
      else out(printed);
      say(NEXT);
    });
}

const NEXT = `
Next:
  npx holdfast                       the server, with the variables of ${ENV}; keep it running
  node --env-file=${ENV} ${PROGRAM}   prints the rows, and each change: make one in SQL
How to show them in React: docs/existing-app.md in the repository of Holdfast.`;

interface Environment {
  readonly databaseUrl: string;
  readonly keys: Readonly<Record<"HOLDFAST_SECRET_KEY" | "HOLDFAST_MASTER_KEY", string>>;
  /** The .env file, its text, and the keys that it lacks. */
  readonly file: string;
  readonly text: string;
  readonly added: Readonly<Record<string, string>>;
}

function readEnvironment({ env, folder, newSecretKey, newMasterKey }: Terminal): Environment {
  const file = join(folder, ENV);
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const known = { ...readEnv(text), ...env };
  const { DATABASE_URL: databaseUrl, HOLDFAST_SECRET_KEY: secretKey, HOLDFAST_MASTER_KEY: masterKey } = known;
  if (!databaseUrl)
    throw new UsageError(
      `There is no DATABASE_URL, neither in the environment nor in ${file}. Set it to the Postgres that has your tables. (If you have none, follow the quick start: npx holdfast brings a Postgres.)`,
    );
  const added = {
    ...(!secretKey && { HOLDFAST_SECRET_KEY: newSecretKey() }),
    ...(!masterKey && { HOLDFAST_MASTER_KEY: newMasterKey() }),
  };
  const keys = { HOLDFAST_SECRET_KEY: secretKey ?? "", HOLDFAST_MASTER_KEY: masterKey ?? "", ...added };
  return { databaseUrl, keys, file, text, added };
}

async function derive(
  tools: TableTools,
  { tables }: Options,
  { databaseUrl }: Environment,
): Promise<readonly DerivedTable[]> {
  // As Prisma writes it.
  const schema = new URL(databaseUrl).searchParams.get("schema") ?? undefined;
  const names = tables === undefined ? await tools.names(schema) : tables.split(",").map((name) => name.trim());
  if (names.length === 0) throw new UsageError("The database has no tables. Create some, or follow the quick start.");
  return tools.inspect(names);
}

/** The tenant of the key. In a database without a service, the key is stored in the file first, and then in the database. */
async function tenantFor(tools: TableTools, { keys, file, text, added }: Environment): Promise<TenantChoice> {
  const known = await tools.tenantOf(keys.HOLDFAST_SECRET_KEY);
  if (known && added.HOLDFAST_MASTER_KEY)
    throw new UsageError(
      "This database already belongs to a Holdfast service: set HOLDFAST_MASTER_KEY to the key of that service.",
    );
  if (known) return known;
  if (Object.keys(added).length > 0) writeFileSync(file, withVariables(text, added), { mode: 0o600 });
  return tools.create(keys.HOLDFAST_SECRET_KEY);
}

/** Those that were named, else those that the person chooses. */
async function choose(found: readonly DerivedTable[], { tables, yes }: Options, { say, ask }: Terminal) {
  const possible = found.filter(isAttachable);
  for (const line of remarks(found.filter((one) => !isAttachable(one)))) say(line);
  if (possible.length === 0) throw new UsageError("No table can be attached as it is.");
  if (tables !== undefined) {
    if (possible.length < found.length) throw new UsageError("Nothing was changed.");
    return possible;
  }
  if (yes) return possible;
  if (!ask) throw new UsageError("Add --yes, and --tables <names>: there is no terminal to ask at.");
  const rows = possible.map(({ table: { sqlName }, modelName, model }, i) => [
    ...[String(i + 1), sqlName, modelName, Object.keys(model.fields).join(", ")],
  ]);
  say(table(["", "table", "model", "fields"], rows));
  for (;;) {
    const answer = await ask("Which ones? Numbers or names with commas between, or Enter for all: ");
    if (answer.trim() === "") return possible;
    const wanted = answer.split(",").map((word) => word.trim());
    const unknown = wanted.find((word) => !chosenBy(word, possible));
    if (unknown === undefined) return [...new Set(wanted.flatMap((word) => chosenBy(word, possible) ?? []))];
    say(`"${unknown}" is not in the list.`);
  }
}

/** By its number in the list, its name with or without the schema, or its model's name. */
export const chosenBy = (word: string, possible: readonly Attachable[]): Attachable | undefined =>
  possible.find(({ table: { sqlName, name }, modelName }, i) =>
    [String(i + 1), sqlName, name, modelName].includes(word),
  );

function planOf(chosen: readonly Attachable[], { databaseUrl, added, file }: Environment): string {
  const { host, pathname } = new URL(databaseUrl);
  const keys = Object.keys(added);
  return [
    `In ${host}${pathname}: creates the schema "holdfast", and attaches`,
    ...chosen.map(({ table: { sqlName }, modelName }) => `  ${sqlName} as ${modelName}`),
    "Your tables keep their columns and rows; each gets triggers.",
    `In this folder: writes ${SCHEMA} and ${PROGRAM}${keys.length > 0 ? `, adds ${keys.join(" and ")} to ${file}` : ""}.`,
  ].join("\n");
}

/** Whether it was written: a file that is there is left as it is. */
function writeNew(file: string, text: string, { say }: Terminal): boolean {
  const isNew = !existsSync(file);
  if (isNew) writeFileSync(file, text);
  say(isNew ? `wrote ${file}` : `${file} is there already: it was left as it is`);
  return isNew;
}
