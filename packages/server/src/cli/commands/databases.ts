import { setTimeout as pause } from "node:timers/promises";
import type { Command } from "commander";
import type { OperatorDatabases } from "../../modules/databases/flows/operator-databases.ts";
import type { Comparison, Misplaced } from "../../modules/databases/flows/recover-tenant.ts";
import { table } from "../table.ts";
import type { CommonOptions, Terminal } from "../terminal.ts";
import { UsageError } from "../usage-error.ts";
import { NEEDS_DATABASE } from "./dump.ts";

const ASK_MS = 250;
const SAY_MS = 5_000;

const EXAMPLES = `
Examples:
  holdfast databases add second postgres://holdfast:secret@db2.example/holdfast
  holdfast tenants move org_4Hn2 --to second
  holdfast databases drain second
  psql "$(holdfast databases url)"
`;

const RECOVERY_EXAMPLES = `
Examples:
  holdfast databases verify
  holdfast tenants recover org_4Hn2 --live --in second --yes
  holdfast tenants recover org_4Hn2 --live --in own --empty --yes
`;

/** `databases add`, `set`, `list`, `drain`, `rm`, `verify`; `tenants move`, `recover`: several Postgres servers for the tenants of one service. */
export function addDatabases(program: Command, terminal: Terminal): void {
  const { out, say } = terminal;
  const databases = program
    .command("databases")
    .description("the databases that tenants live in (as the operator)")
    .addHelpText("after", EXAMPLES + NEEDS_DATABASE);

  databases
    .command("add <name> <connectionString>")
    .description("add a database; tenants can move there from then on")
    .action(async (name: string, connectionString: string) => {
      await terminal.withDatabases((tools) => tools.add(name, connectionString));
      say(`${name}: added. Move tenants there with: holdfast tenants move <organization> --to ${name}`);
    });

  databases
    .command("set <name> <connectionString>")
    .description("replace a database's password, role or host; running servers follow within a second")
    .action(async (name: string, connectionString: string) => {
      await terminal.withDatabases((tools) => tools.set(name, connectionString));
      say(`${name}: set`);
    });

  databases
    .command("list")
    .description("list the databases, and how many tenants live in each")
    .action(async (_, command: Command) => {
      const listed = await terminal.withDatabases((tools) => tools.list());
      if (command.optsWithGlobals<CommonOptions>().json) return void out(`${JSON.stringify(listed)}\n`);
      const rows = listed.map(({ name, host, database, tenants }) => [
        ...[name, host || null, database || null, String(tenants)],
      ]);
      out(table(["NAME", "HOST", "DATABASE", "TENANTS"], rows));
    });

  databases
    .command("url")
    .description("print the connection string of the service's own database, with its password: for psql")
    .action(() => {
      const url = terminal.runningDatabase();
      if (url === undefined)
        throw new UsageError(
          "The embedded Postgres runs only while its server runs. Start the server first, or set DATABASE_URL.",
        );
      out(`${url}\n`);
    });

  databases
    .command("drain <name>")
    .description("move all tenants of a database into the service's own")
    .action((name: string) =>
      terminal.withDatabases(async (tools) => arrival(tools, await tools.drain(name), terminal)),
    );

  databases
    .command("rm <name>")
    .description("remove a database in which no tenant lives")
    .action(async (name: string) => {
      await terminal.withDatabases((tools) => tools.remove(name));
      out(`removed ${name}\n`);
    });

  databases
    .command("verify")
    .description("compare where tenants should live with where their logs are, after a database was restored or lost")
    .addHelpText("after", RECOVERY_EXAMPLES + NEEDS_DATABASE)
    .action(() => terminal.withDatabases(async (tools) => compared(await tools.verify(), terminal)));

  const tenants = program.command("tenants").description("where tenants live (as the operator)");
  tenants
    .command("recover <organization>")
    .description("say in which database a tenant's log counts; what the others have of it is deleted")
    .requiredOption("--in <database>", "its name, as databases verify says it; own: the service's own")
    .option("--live", "the live tenant")
    .option("--test", "the test tenant")
    .option("--empty", "if no database has a log of it, begin with an empty one")
    .option("--yes", "do it: without it, say what would be done")
    .addHelpText("after", RECOVERY_EXAMPLES + NEEDS_DATABASE)
    .action((organization: string, options: RecoverOptions) =>
      terminal.withDatabases((tools) => recovered(tools, organization, options, terminal)),
    );
  tenants
    .command("move <organization>")
    .description(
      "move an organization's tenants into another database, while writes go on; to where they live: give a move up",
    )
    .requiredOption("--to <database>", "the database's name; own: the service's own")
    .option("--live", "only the live tenant")
    .option("--test", "only the test tenant")
    .option("--yes", "also out of a database that its owner has registered: that datasource is gone then")
    .addHelpText("after", EXAMPLES + NEEDS_DATABASE)
    .action((organization: string, options: { to: string; live?: boolean; test?: boolean; yes?: boolean }) =>
      terminal.withDatabases(async (tools) => {
        const both = options.live === options.test;
        const chosen = (["live", "test"] as const).filter((name) => both || options[name]);
        await arrival(
          tools,
          await tools.move(organization, chosen, options.to, { leavesOwn: options.yes === true }),
          terminal,
        );
      }),
    );
}

/** A running server carries moves out. Ctrl-C ends the waiting, not the moves. */
async function arrival(tools: OperatorDatabases, tenants: readonly number[], { say, out, interrupted }: Terminal) {
  const stopping = interrupted();
  let saidAt = performance.now();
  for (;;) {
    const left = await tools.underWay(tenants);
    if (left.length === 0) return void out(`${tenants.length === 0 ? "nothing to move" : `moved ${tenants.length}`}\n`);
    if (stopping.aborted)
      throw new UsageError(
        `${left.length} of ${tenants.length} tenants are not moved yet. A running server continues the move.`,
      );
    if (performance.now() - saidAt > SAY_MS) {
      saidAt = performance.now();
      const problem = left.find((one) => one.problem !== null)?.problem;
      say(
        `${left.length} of ${tenants.length} on their way${problem ? `: ${problem}` : ", carried out by a running server …"}`,
      );
    }
    await pause(ASK_MS);
  }
}

function compared({ places, misplaced, unlisted }: Comparison, { say, out }: Terminal): void {
  for (const { name, also } of places) for (const one of also) say(`${one.name} is the same database as ${name}`);
  for (const { name, problem } of places) if (problem !== undefined) say(`${name} cannot be compared: ${problem}`);
  for (const { tenant, expected, fault, logs } of misplaced) {
    const environment = tenant.livemode ? "live" : "test";
    const recover = `holdfast tenants recover ${tenant.organization} --${environment} --in`;
    const what = {
      several: `several databases have a log of it, and ${expected} serves it. Say which one counts: ${recover} <database>`,
      elsewhere: `it should live in ${expected}, and its log is elsewhere: ${recover} ${logs[0]?.place}`,
      none: `no database has a log of it. Restore a backup of ${expected}, or begin with an empty one: ${recover} own --empty`,
    }[fault];
    out(`${tenant.organization} ${environment}: ${what}\n`);
    for (const log of logs) out(`  ${described(log)}\n`);
  }
  for (const { organization, livemode, place, entries, lastAt } of unlisted)
    say(
      `${organization} ${livemode ? "live" : "test"}: ${place} has a log of it that the directory does not know, with ${entries} entries, the newest of ${lastAt}`,
    );
  const known = places.filter(({ problem }) => problem === undefined).length;
  if (misplaced.length > 0 || known < places.length)
    throw new UsageError(
      `${misplaced.length} tenants need a repair; ${known} of ${places.length} databases were compared.`,
    );
  out(`${known} databases agree with the directory\n`);
}

const described = ({ place, organization, entries, lastAt }: Misplaced["logs"][number]): string =>
  `${place}: ${entries} entries of ${organization}, the newest of ${lastAt}`;

interface RecoverOptions {
  readonly in: string;
  readonly live?: boolean;
  readonly test?: boolean;
  readonly empty?: boolean;
  readonly yes?: boolean;
}

async function recovered(
  tools: OperatorDatabases,
  organization: string,
  { in: to, live = false, test = false, empty = false, yes = false }: RecoverOptions,
  { out, say }: Terminal,
): Promise<void> {
  if (live === test) throw new UsageError("Say which tenant: --live or --test.");
  const { kept, lost, unknown, carryOut } = await tools.planRecovery(organization, test ? "test" : "live", {
    to,
    empty,
  });
  say(kept ? `counts: ${described(kept)}` : `counts: ${to}, with an empty log`);
  for (const log of lost) say(`is deleted: ${described(log)}`);
  for (const { name, problem } of unknown) say(`does not count any more: ${name}, which cannot be asked: ${problem}`);
  if (!yes) throw new UsageError("Nothing was changed: add --yes.");
  await carryOut();
  out(`recovered in ${to}: clients read the log again\n`);
}
