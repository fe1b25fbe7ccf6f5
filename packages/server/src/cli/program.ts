import { Command } from "commander";
import { addDatabases } from "./commands/databases.ts";
import { addDatasources } from "./commands/datasources.ts";
import { addDump } from "./commands/dump.ts";
import { addErase } from "./commands/erase.ts";
import { addInit } from "./commands/init.ts";
import { addKeys } from "./commands/keys.ts";
import { addLog } from "./commands/log.ts";
import { addOrganizations } from "./commands/organizations.ts";
import { addSchema } from "./commands/schema.ts";
import { addTables } from "./commands/tables.ts";
import { addWebhooks } from "./commands/webhooks.ts";
import type { Terminal } from "./terminal.ts";

/** `holdfast`: what operators and app developers do from a terminal. */
export function createProgram(terminal: Terminal): Command {
  const program = new Command("holdfast")
    .description(
      "Manages a Holdfast server: its schema, keys, organizations, log, webhooks, tables, databases and backups.",
    )
    .option("--url <address>", "the server's URL (default: HOLDFAST_URL, else http://127.0.0.1:8787)")
    .option(
      "--env-file <file>",
      "a file with environment variables (default: .env, if it sets one of Holdfast's); those that are set already stay",
    )
    .option("--json", "print JSON instead of tables")
    .showHelpAfterError("(see --help)");
  const commands = [
    addInit,
    addSchema,
    addKeys,
    addOrganizations,
    addLog,
    addWebhooks,
    addErase,
    addDump,
    addTables,
    addDatabases,
    addDatasources,
  ];
  for (const add of commands) add(program, terminal);
  return program;
}
