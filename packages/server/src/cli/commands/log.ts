import { type List, type LogEntry, limits } from "@holdfast/sdk/protocol";
import type { Command } from "commander";
import { headOf } from "../head.ts";
import { request } from "../request.ts";
import { secretKeyTarget } from "../target.ts";
import type { CommonOptions, Terminal } from "../terminal.ts";
import { NEEDS_DATABASE } from "./dump.ts";

interface Options extends CommonOptions {
  readonly key?: string;
  readonly test?: boolean;
  readonly after?: string;
  readonly model: string[];
  readonly follow: boolean;
}

/** `log tail`, `log renew`. */
export function addLog(program: Command, { env, out, renewLogs }: Terminal): void {
  const log = program.command("log").description("the log of changes");
  log
    .command("renew")
    .description(
      "give all logs new ids, so that clients read them again; needed after the database's files were copied",
    )
    .addHelpText("after", NEEDS_DATABASE)
    .action(async (_, command: Command) => {
      const renewed = await renewLogs();
      out(
        command.optsWithGlobals<CommonOptions>().json
          ? `${JSON.stringify({ renewed })}\n`
          : `gave ${renewed} logs new ids: clients read them again and resend their queued writes\n`,
      );
    });
  log
    .command("tail")
    .description("print changes as they are committed, until interrupted")
    .option("--key <token>", "any token of the tenant (default: the stored secret key)")
    .option("--test", "the test tenant, with the stored key")
    .option("--after <position>", "start after this position (default: now; 0: the beginning)")
    .option(
      "--model <name>",
      "only this model; may be repeated",
      (name: string, before: string[]) => [...before, name],
      [],
    )
    .option("--no-follow", "stop at the end of the log")
    .action(async (_, command: Command) => {
      const options = command.optsWithGlobals<Options>();
      const target = secretKeyTarget(options, env);
      const models = options.model.map((name) => `&model=${encodeURIComponent(name)}`).join("");
      const read = (after: string, wait: number) =>
        request<List<LogEntry>>(
          target,
          "GET",
          `/v1/log?after=${encodeURIComponent(after)}&limit=1000&wait=${wait}${models}`,
        );
      let after = options.after ?? String((await headOf(target)).stamp);
      for (;;) {
        const page = await read(after, options.follow ? limits.logWaitMs : 0);
        out(page.data.map((entry) => `${options.json ? JSON.stringify(entry) : lineOf(entry)}\n`).join(""));
        after = page.next_cursor ?? after;
        if (!options.follow && !page.has_more) return;
      }
    });
}

/** `12  2026-01-02T03:04:05.678Z  slide.updated s1  title, notes  by agent:worker` */
function lineOf({ syncId, createdAt, model, verb, id, changedFields, participantKind, actor }: LogEntry): string {
  const fields = changedFields === null ? "" : `  ${changedFields.join(", ")}`;
  return `${syncId}  ${createdAt}  ${model}.${verb} ${id}${fields}  by ${participantKind}:${actor}`;
}
