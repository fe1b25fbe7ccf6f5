import type { List, Organization } from "@holdfast/sdk/protocol";
import type { Command } from "commander";
import { request } from "../request.ts";
import { table } from "../table.ts";
import { operatorTarget } from "../target.ts";
import type { CommonOptions, Terminal } from "../terminal.ts";

/** `orgs create`, `orgs list`. */
export function addOrganizations(program: Command, { env, out }: Terminal): void {
  const organizations = program.command("orgs").description("organizations (as the operator)");
  organizations
    .command("create <name>")
    .description("create an organization with its live and test tenants")
    .action(async (name: string, _, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions>();
      const made = await request<Organization>(operatorTarget(options, env), "POST", "/v1/organizations", { name });
      out(options.json ? `${JSON.stringify(made)}\n` : `${made.id}\n`);
    });
  organizations
    .command("list")
    .description("list organizations, oldest first")
    .action(async (_, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions>();
      const { data } = await request<List<Organization>>(operatorTarget(options, env), "GET", "/v1/organizations");
      if (options.json) return void out(`${JSON.stringify(data)}\n`);
      out(
        table(
          ["ID", "NAME", "CREATED"],
          data.map(({ id, name, createdAt }) => [id, name, createdAt]),
        ),
      );
    });
}
