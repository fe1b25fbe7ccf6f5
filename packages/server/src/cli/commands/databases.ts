import { setTimeout as pause } from "node:timers/promises";
import type { Command } from "commander";
import type { OperatorDatabases } from "../../flows/datasources/operator-databases.ts";
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

/** `databases add`, `list`, `drain`, `rm`; `tenants move`: several Postgres servers for the tenants of one service. */
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
          "The embedded Postgres runs while its server does: start that first, or set DATABASE_URL.",
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

  program
    .command("tenants")
    .description("where tenants live (as the operator)")
    .command("move <organization>")
    .description("move an organization's tenants into another database, while writes go on")
    .requiredOption("--to <database>", "the database's name; own: the service's own")
    .option("--live", "only the live tenant")
    .option("--test", "only the test tenant")
    .addHelpText("after", EXAMPLES + NEEDS_DATABASE)
    .action((organization: string, options: { to: string; live?: boolean; test?: boolean }) =>
      terminal.withDatabases(async (tools) => {
        const both = options.live === options.test;
        const chosen = (["live", "test"] as const).filter((name) => both || options[name]);
        await arrival(tools, await tools.move(organization, chosen, options.to), terminal);
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
      throw new UsageError(`${left.length} of ${tenants.length} are still on their way; a server goes on with them.`);
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
