import type { CommitReceipt } from "@holdfast/sdk/protocol";
import type { Command } from "commander";
import { request } from "../request.ts";
import { secretKeyTarget } from "../target.ts";
import type { CommonOptions, Terminal } from "../terminal.ts";
import { UsageError } from "../usage-error.ts";

interface Options extends CommonOptions {
  readonly key?: string;
  readonly test?: boolean;
}

/** `erase`. */
export function addErase(program: Command, { env, out }: Terminal): void {
  program
    .command("erase <model> <id>")
    .description("erase a record permanently: its row, and its values in the log, receipts and undelivered webhooks")
    .option("--key <token>", "a secret key, or a token with <model>.erase (default: the stored secret key)")
    .option("--test", "in the test environment, with the stored key")
    .action(async (model: string, id: string, _, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      const path = `/v1/models/${encodeURIComponent(model)}/${encodeURIComponent(id)}?erase=true`;
      const receipt = await request<CommitReceipt>(secretKeyTarget(options, env), "DELETE", path);
      if (receipt.missingIds) throw new UsageError(`The ${model} ${id} does not exist, or is already erased.`);
      out(options.json ? `${JSON.stringify(receipt)}\n` : `erased: ${model} ${id}, position ${receipt.lastSyncId}\n`);
    });
}
