import type { List, Organization, SecretKey } from "@holdfast/sdk/protocol";
import type { Command } from "commander";
import { request, type Target } from "../request.ts";
import { table } from "../table.ts";
import { operatorTarget } from "../target.ts";
import type { CommonOptions, Terminal } from "../terminal.ts";
import { UsageError } from "../usage-error.ts";

/** `keys create`, `keys list`, `keys revoke`. */
export function addKeys(program: Command, { env, out, say }: Terminal): void {
  const keys = program.command("keys").description("secret keys (as the operator)");
  keys
    .command("create")
    .description("create a key; it is printed once")
    .option("--org <id>", "the organization (default: the only one)")
    .option("--test", "for the test environment")
    .option("--label <text>", "a description")
    .action(async (_, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions & { org?: string; test?: boolean; label?: string }>();
      const target = operatorTarget(options, env);
      const key = await request<SecretKey>(target, "POST", "/v1/secret_keys", {
        organization: options.org ?? (await onlyOrganization(target)),
        livemode: options.test !== true,
        ...(options.label !== undefined && { label: options.label }),
      });
      if (options.json) return void out(`${JSON.stringify(key)}\n`);
      say(`${key.id} for the ${environmentOf(key)} environment of ${key.organization}. The key is shown only once:`);
      out(`${key.token}\n`);
    });
  keys
    .command("list")
    .description("list keys, without their secrets")
    .option("--org <id>", "only keys of this organization")
    .action(async (_, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions & { org?: string }>();
      const query = options.org === undefined ? "" : `?organization=${encodeURIComponent(options.org)}`;
      const { data } = await request<List<SecretKey>>(operatorTarget(options, env), "GET", `/v1/secret_keys${query}`);
      if (options.json) return void out(`${JSON.stringify(data)}\n`);
      const rows = data.map((key) => [
        key.id,
        key.organization,
        environmentOf(key),
        key.last4,
        key.label,
        key.revokedAt,
      ]);
      out(table(["ID", "ORGANIZATION", "ENVIRONMENT", "ENDS IN", "LABEL", "REVOKED"], rows));
    });
  keys
    .command("revoke <id>")
    .description("revoke a key")
    .option("--grace <seconds>", "keep it valid for this many seconds")
    .action(async (id: string, _, command: Command) => {
      const options = command.optsWithGlobals<CommonOptions & { grace?: string }>();
      const graceSeconds = options.grace === undefined ? 0 : Number(options.grace);
      if (!Number.isInteger(graceSeconds)) throw new UsageError("--grace must be a whole number of seconds.");
      const path = `/v1/secret_keys/${encodeURIComponent(id)}`;
      const ended = await request<object>(operatorTarget(options, env), "DELETE", path, { graceSeconds });
      out(options.json ? `${JSON.stringify(ended)}\n` : `revoked ${id}\n`);
    });
}

const environmentOf = ({ livemode }: SecretKey): string => (livemode ? "live" : "test");

async function onlyOrganization(target: Target): Promise<string> {
  const { data } = await request<List<Organization>>(target, "GET", "/v1/organizations");
  const [first, ...others] = data;
  if (!first || others.length > 0)
    throw new UsageError(`There are ${data.length} organizations: choose one with --org.`);
  return first.id;
}
