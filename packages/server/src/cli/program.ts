import { Command } from "commander";
import { addDump } from "./commands/dump.ts";
import { addErase } from "./commands/erase.ts";
import { addKeys } from "./commands/keys.ts";
import { addLog } from "./commands/log.ts";
import { addOrganizations } from "./commands/organizations.ts";
import { addSchema } from "./commands/schema.ts";
import { addWebhooks } from "./commands/webhooks.ts";
import type { Terminal } from "./terminal.ts";

/** `holdfast`: what operators and app developers do from a terminal. */
export function createProgram(terminal: Terminal): Command {
  const program = new Command("holdfast")
    .description("Manages a Holdfast server: its schema, keys, organizations, log, webhooks and backups.")
    .option("--url <address>", "the server's URL (default: HOLDFAST_URL, else http://127.0.0.1:8787)")
    .option("--json", "print JSON instead of tables")
    .showHelpAfterError("(see --help)");
  for (const add of [addSchema, addKeys, addOrganizations, addLog, addWebhooks, addErase, addDump])
    add(program, terminal);
  return program;
}
