import type { Model } from "@holdfast/sdk/protocol";
import type { Command } from "commander";
import type { TableTools, TenantChoice } from "../../flows/tables/table-tools.ts";
import type { DerivedTable } from "../../rules/tables/derive-models.ts";
import { ask, isYes } from "../ask.ts";
import { table } from "../table.ts";
import type { CommonOptions, Terminal } from "../terminal.ts";
import { UsageError } from "../usage-error.ts";
import { NEEDS_DATABASE } from "./dump.ts";

interface Options extends CommonOptions {
  readonly org?: string;
  readonly test?: boolean;
  readonly model: readonly string[];
  readonly yes?: boolean;
  readonly repair?: boolean;
  readonly drop?: boolean;
}

export type Attachable = Extract<DerivedTable, { model: Model }>;

/** `tables inspect`, `attach`, `list`, `verify`, `detach`: tables of the database whose rows are records. */
export function addTables(program: Command, terminal: Terminal): void {
  const { out, say } = terminal;
  const tables = program
    .command("tables")
    .description("tables of your own in the server's database, whose rows are records")
    .addHelpText("after", NEEDS_DATABASE);
  const tenantOptions = (command: Command) =>
    command
      .option("--org <id>", "the organization (default: the only one)")
      .option("--test", "the test tenant (default: live)");
  const modelOption = (command: Command) =>
    command.option("--model <table=name>", "the name of a table's model; may be repeated", collect, []);

  modelOption(tables.command("inspect <table...>"))
    .description("print the models that tables would have, as JSON; changes nothing")
    .action(async (names: string[], _, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      const inspecting = (tools: TableTools) => tools.inspect(names, modelNames(options.model));
      const derived = await terminal.withTables(inspecting, { migrates: false });
      const found = derived.filter(isAttachable);
      out(`${JSON.stringify({ models: modelsOf(found) }, null, 2)}\n`);
      for (const line of remarks(derived)) say(line);
      if (found.length < derived.length) throw new UsageError("Not every table can be attached.");
    });

  tenantOptions(modelOption(tables.command("attach <table...>")))
    .description("make the rows of tables the records of models")
    .option("--yes", "do not ask")
    .action(async (names: string[], _, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      const stopping = terminal.interrupted();
      await terminal.withTables(async (tools) => {
        const derived = await tools.inspect(names, modelNames(options.model));
        for (const line of remarks(derived)) say(line);
        const found = derived.filter(isAttachable);
        if (found.length < derived.length) throw new UsageError("Nothing was attached.");
        for (const one of found) say(planOf(one));
        await confirmed(
          options,
          terminal,
          `Attach ${found.length === 1 ? "this table" : `these ${found.length} tables`}?`,
        );
        for (const one of found) await attachOne(tools, tenantOf(options), one, terminal, stopping);
      });
    });

  tables
    .command("list")
    .description("list the attached tables of all tenants")
    .action(async (_, command: Command) => {
      const listed = await terminal.withTables((tools) => tools.list());
      if (command.optsWithGlobals<Options>().json) return void out(`${JSON.stringify(listed)}\n`);
      out(
        table(
          ["table", "model", "organization", "environment", "status", "waiting changes"],
          listed.map((one) => [
            ...[one.name, one.model, one.organization, one.environment, one.status, String(one.waiting)],
          ]),
        ),
      );
      for (const { problem } of listed) if (problem !== null) say(problem);
    });

  tenantOptions(tables.command("verify [model...]"))
    .description("compare the rows of attached tables with the records")
    .option("--repair", "record what differs")
    .action(async (models: string[], _, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      let isEqual = true;
      await terminal.withTables(async (tools) => {
        const wanted = models.length > 0 ? models : await attachedModels(tools, options);
        for (const model of wanted) {
          const found = await tools.verify(tenantOf(options), model, { repair: options.repair === true });
          const differences = found.missing + found.different + found.extra;
          isEqual &&= differences === found.repaired;
          if (options.json) out(`${JSON.stringify({ model, ...found })}\n`);
          else
            out(
              differences === 0
                ? `${model}: ${found.rows} rows, equal\n`
                : `${model}: ${found.rows} rows, ${found.missing} without a record, ${found.different} with other values, ${found.extra} records without a row${options.repair ? `; ${found.repaired} repaired` : ""}\n`,
            );
        }
      });
      if (!isEqual)
        throw new UsageError('Rows and records differ. "holdfast tables verify --repair" records what differs.');
    });

  tenantOptions(tables.command("detach <model>"))
    .description("end the attachment of a model's table; the table keeps its rows")
    .option("--drop", "remove the model and its records (default: they stay, and Holdfast writes them)")
    .option("--yes", "do not ask")
    .action(async (model: string, _, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      const drop = options.drop === true;
      await confirmed(options, terminal, drop ? `Detach ${model}, and remove its records?` : `Detach ${model}?`);
      await terminal.withTables((tools) => tools.detach(tenantOf(options), model, { drop }));
      out(drop ? `detached: ${model}; its records are removed\n` : `detached: ${model}; its records stay\n`);
    });
}

export async function attachOne(
  tools: TableTools,
  tenant: TenantChoice,
  one: Attachable,
  { out, say }: Terminal,
  stopping: AbortSignal,
): Promise<void> {
  let isWaiting = false;
  const { rows } = await tools.attach(tenant, one, {
    stopping,
    progress: (read, about) => say(`${one.table.sqlName}: ${read} rows of about ${Math.max(read, about)}`),
    waiting: () => {
      if (!isWaiting) say(`${one.table.sqlName}: waiting for transactions that write to it`);
      isWaiting = true;
    },
  });
  out(`attached: ${one.table.sqlName} as ${one.modelName}, ${rows} rows\n`);
}

/** Asks at a terminal. Without one, the command must be told not to ask. */
async function confirmed(options: Options, { isInteractive }: Terminal, question: string): Promise<void> {
  if (options.yes) return;
  if (!isInteractive) throw new UsageError(`${question} Add --yes: there is no terminal to ask at.`);
  if (!isYes(await ask(`${question} [y/N] `))) throw new UsageError("Nothing was changed.");
}

const tenantOf = ({ org, test = false }: Options): TenantChoice => ({ organization: org, livemode: !test });

async function attachedModels(tools: TableTools, { org, test = false }: Options): Promise<string[]> {
  const environment = test ? "test" : "live";
  return (await tools.list())
    .filter((one) => one.environment === environment && (org === undefined || one.organization === org))
    .map(({ model }) => model);
}

export const isAttachable = (derived: DerivedTable): derived is Attachable => "model" in derived;

export const modelsOf = (derived: readonly Attachable[]) =>
  Object.fromEntries(derived.map(({ modelName, model }) => [modelName, model]));

export const remarks = (derived: readonly DerivedTable[]): string[] =>
  derived.flatMap((one) =>
    isAttachable(one)
      ? one.notes.map((note) => `note: ${one.table.sqlName}: ${note}`)
      : [`refused: ${one.table.sqlName}: ${one.problem}`],
  );

const planOf = ({ table: { sqlName }, modelName, keyColumn, columns }: Attachable): string =>
  `${sqlName} → model "${modelName}": id from ${keyColumn}, fields ${columns.map(({ field }) => field).join(", ")}. Installs triggers, then reads its rows.`;

function modelNames(pairs: readonly string[]): Map<string, string> {
  return new Map(
    pairs.map((pair) => {
      const at = pair.lastIndexOf("=");
      if (at < 1 || at === pair.length - 1)
        throw new UsageError(`--model must be <table>=<name>, like public.people=person (got "${pair}").`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}

const collect = (value: string, before: readonly string[]): string[] => [...before, value];
