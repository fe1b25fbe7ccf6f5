import type { Model } from "@holdfast/sdk/protocol";
import type { Command } from "commander";
import type { AttachOptions } from "../../modules/tables/flows/attach-table.ts";
import type { ListedTable } from "../../modules/tables/flows/list-tables.ts";
import type { TableTools, TenantChoice } from "../../modules/tables/flows/table-tools.ts";
import type { Verified } from "../../modules/tables/flows/verify-table.ts";
import type { DerivedTable } from "../../modules/tables/rules/derive-models.ts";
import type { TableTask } from "../../modules/tables/rules/table-rights.ts";
import { isYes } from "../ask.ts";
import { createProgress } from "../progress.ts";
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
  readonly replace?: boolean;
  readonly emit?: boolean;
}

const waitingOf = ({ waiting, moreWaiting }: ListedTable): string => `${moreWaiting ? "at least " : ""}${waiting}`;

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
      const inspecting = async (tools: TableTools) => {
        const derived = await inspectNamed(tools, names, options);
        return { derived, missing: await tools.missingRights(derived.filter(isAttachable), "attach") };
      };
      const { derived, missing } = await terminal.withTables(inspecting, { migrates: false });
      const found = derived.filter(isAttachable);
      out(`${JSON.stringify({ models: modelsOf(found) }, null, 2)}\n`);
      for (const line of remarks(derived)) say(line);
      for (const line of missing) say(`note: to attach: ${line}`);
      if (found.length < derived.length) throw new UsageError("Not every table can be attached.");
    });

  tenantOptions(modelOption(tables.command("attach <table...>")))
    .description("make the rows of tables the records of models")
    .option("--replace", "remove the records that a model has already: the rows take their place")
    .option("--emit", "give each row a log entry, so that webhooks hear of it (default: clients read the rows again)")
    .option("--yes", "do not ask")
    .action(async (names: string[], _, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      const stopping = terminal.interrupted();
      await terminal.withTables(async (tools) => {
        const derived = await inspectNamed(tools, names, options);
        for (const line of remarks(derived)) say(line);
        const found = derived.filter(isAttachable);
        if (found.length < derived.length) throw new UsageError("Nothing was attached.");
        await refuseWithoutRights(tools, found, options.emit ? ["attach", "repair"] : ["attach"]);
        for (const one of found) say(planOf(one, options));
        await confirmed(
          options,
          terminal,
          `Attach ${found.length === 1 ? "this table" : `these ${found.length} tables`}?`,
        );
        await attachAll(tools, tenantOf(options), found, terminal, { stopping, replace: options.replace === true });
        if (options.emit) await emitAll(tools, tenantOf(options), found, terminal, stopping);
      });
    });

  tables
    .command("list")
    .description("list the attached tables of all tenants")
    .action(async (_, command: Command) => {
      const [listed, place] = await terminal.withTables(async (tools) => [await tools.list(), tools.place] as const);
      if (command.optsWithGlobals<Options>().json) return void out(`${JSON.stringify(listed)}\n`);
      if (listed.length === 0) return say(`${place} has no attached tables.`);
      out(
        table(
          ["table", "model", "organization", "environment", "status", "waiting changes", "MiB", "since"],
          listed.map((one) => [
            ...[one.name, one.model, one.organization, one.environment, one.status],
            ...[waitingOf(one), (one.waitingBytes / 2 ** 20).toFixed(1), one.waitingSince ?? ""],
          ]),
        ),
      );
      for (const { problem, missed } of listed) for (const said of [problem, missed]) if (said !== null) say(said);
    });

  tenantOptions(tables.command("verify [model...]"))
    .description("compare the rows of attached tables with what the log says of them")
    .option("--repair", "record what differs")
    .action(async (models: string[], _, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      let isEqual = true;
      let agrees = true;
      await terminal.withTables(async (tools) => {
        const wanted = models.length > 0 ? models : await attachedModels(tools, options);
        if (wanted.length === 0) say(`${tools.place} has no attached tables.`);
        for (const model of wanted) {
          const progress = createProgress(say);
          const found = await tools.verify(tenantOf(options), model, {
            repair: options.repair === true,
            progress: (step, done, about) => progress(() => `${model}: ${ofAbout(done, about)} ${step} compared`),
          });
          const differences = found.different + found.extra;
          isEqual &&= differences === found.repaired;
          agrees &&= found.problems.length === 0;
          if (options.json) out(`${JSON.stringify({ model, ...found })}\n`);
          else {
            for (const problem of found.problems) say(`${model}: ${problem}`);
            for (const note of found.notes) say(`note: ${model}: ${note}`);
            out(`${model}: ${outcomeOf(found, options)}\n`);
          }
        }
      });
      if (!isEqual)
        throw new UsageError('Rows and records differ. "holdfast tables verify --repair" records what differs.');
      if (!agrees) throw new UsageError("A table and its model disagree.");
    });

  tenantOptions(tables.command("detach <model>"))
    .description("end the attachment of a model's table; the table keeps its rows")
    .option("--drop", "remove the model and its records (default: they stay, and Holdfast writes them)")
    .option("--yes", "do not ask")
    .action(async (model: string, _, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      const drop = options.drop === true;
      await confirmed(options, terminal, drop ? `Detach ${model}, and remove its records?` : `Detach ${model}?`);
      const progress = createProgress(say);
      await terminal.withTables((tools) =>
        tools.detach(tenantOf(options), model, {
          drop,
          waiting: once(() => say(`${model}: waiting for transactions that use its table`)),
          progress: (step, done, about) => progress(() => `${model}: ${ofAbout(done, about)} ${STEPS[step]}`),
          leftOut: (count) =>
            say(
              `${model}: ${count} records are removed, because their rows are larger than can be read; the table keeps them`,
            ),
        }),
      );
      out(drop ? `detached: ${model}; its records are removed\n` : `detached: ${model}; its records stay\n`);
    });
}

function outcomeOf({ broken, rows, different, extra, repaired, problems }: Verified, { repair }: Options): string {
  if (broken) return "broken, not compared";
  if (different + extra === 0)
    return `${rows} rows, ${problems.length > 0 ? "no difference to what the log says" : "equal"}`;
  return `${rows} rows, ${different} with other values than the log says, ${extra} that the log has and the table has not${repair ? `; ${repaired} repaired` : ""}`;
}

/** Before anything is attached. */
export async function refuseWithoutRights(
  tools: TableTools,
  found: readonly Attachable[],
  tasks: readonly TableTask[] = ["attach"],
): Promise<void> {
  const missing: string[] = [];
  for (const task of tasks) missing.push(...(await tools.missingRights(found, task)));
  if (missing.length > 0) throw new UsageError([...missing, "Nothing was attached."].join("\n"));
}

/** Attaches tables one after the other. If one fails, says what is attached then. */
export async function attachAll(
  tools: TableTools,
  tenant: TenantChoice,
  found: readonly Attachable[],
  terminal: Terminal,
  options: AttachOptions,
): Promise<void> {
  try {
    for (const one of found) await attachOne(tools, tenant, one, terminal, options);
  } catch (error) {
    // What stopped the command may be the database itself.
    const listed = await tools.list().catch(() => []);
    for (const line of stateOf(found, listed)) terminal.say(line);
    throw error;
  }
}

async function emitAll(
  tools: TableTools,
  tenant: TenantChoice,
  found: readonly Attachable[],
  { out, say }: Terminal,
  stopping: AbortSignal,
): Promise<void> {
  for (const { modelName } of found) {
    const progress = createProgress(say);
    await tools.emit(tenant, modelName, {
      stopping,
      progress: (done, about) => progress(() => `${modelName}: ${ofAbout(done, about)} rows captured`),
    });
    out(`captured: the rows of ${modelName}; the server records them\n`);
  }
}

const STEPS = { changes: "changes recorded", values: "records kept", records: "records removed" };

function stateOf(found: readonly Attachable[], listed: Awaited<ReturnType<TableTools["list"]>>): string[] {
  const names = found.map(({ table }) => table.sqlName);
  const begun = listed.filter(({ name, status }) => names.includes(name) && status !== "detaching");
  const attached = begun.map(({ name }) => name);
  const others = names.filter((name) => !attached.includes(name));
  return [
    ...(attached.length > 0 ? [`Attached: ${attached.join(", ")}.`] : []),
    ...(others.length > 0 ? [`Not attached: ${others.join(", ")}.`] : []),
  ];
}

async function attachOne(
  tools: TableTools,
  tenant: TenantChoice,
  one: Attachable,
  { out, say }: Terminal,
  options: AttachOptions,
): Promise<void> {
  const { sqlName } = one.table;
  await tools.attach(tenant, one, {
    ...options,
    waiting: once(() => say(`${sqlName}: waiting for transactions that write to it`)),
  });
  out(`attached: ${sqlName} as ${one.modelName}\n`);
}

/** Estimates may be too low. */
const ofAbout = (done: number, about: number): string => `${done} of about ${Math.max(done, about)}`;

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) act();
    isDone = true;
  };
}

/** Asks at a terminal. Without one, the command must be told not to ask. */
async function confirmed(options: Options, { ask }: Terminal, question: string): Promise<void> {
  if (options.yes) return;
  if (!ask) throw new UsageError(`${question} Add --yes: there is no terminal to ask at.`);
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

const planOf = ({ table: { sqlName }, modelName, keyColumn, model }: Attachable, { replace }: Options): string =>
  `${sqlName} → model "${modelName}": id from ${keyColumn}, fields ${Object.keys(model.fields).join(", ")}${model.table?.archived ? `, archived from ${model.table.archived}` : ""}. Installs triggers; its rows stay where they are.${replace ? " The records that the model has now are removed." : ""}`;

async function inspectNamed(tools: TableTools, names: readonly string[], { model }: Options) {
  const chosen = modelNames(model);
  const derived = await tools.inspect(names, chosen);
  const isOf = (name: string) => derived.some(({ table: { sqlName, asked } }) => name === sqlName || name === asked);
  for (const name of chosen.keys())
    if (!isOf(name)) throw new UsageError(`--model names ${name}, which is none of the tables.`);
  return derived;
}

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
