import type { Command } from "commander";
import type { SourceTools } from "../../modules/sources/flows/source-tools.ts";
import type { CommonOptions, Terminal } from "../terminal.ts";
import { UsageError } from "../usage-error.ts";
import { NEEDS_DATABASE } from "./dump.ts";

interface Options extends CommonOptions {
  readonly repair?: boolean;
}

/** `datasources verify`: whether records are what the services have that keep them. */
export function addDatasources(program: Command, { out, say, withSources }: Terminal): void {
  program
    .command("datasources")
    .description("services that have the records of some models")
    .command("verify [id...]")
    .description("ask endpoint datasources for all their records, and compare")
    .option("--repair", "read again what differs")
    .addHelpText("after", NEEDS_DATABASE)
    .action(async (ids: string[], _, command: Command) => {
      const { json, repair = false } = command.optsWithGlobals<Options>();
      const progress = (model: string, records: number) => {
        if (records > 0 && records % SAY_EVERY === 0) say(`${model}: ${records} records`);
      };
      let [isEqual, compared] = [true, 0];
      let away: SourceTools["away"] = [];
      await withSources(async (sources) => {
        away = sources.away;
        for (const { name, problem } of away) say(`${name} is left out: ${problem}`);
        for await (const found of sources.verify(ids, { repair, progress })) {
          const { source, model, records, missing, different, extra, unfit, repaired, examples } = found;
          const wrong = missing + different + extra;
          isEqual &&= wrong === repaired;
          compared += 1;
          const differences = [
            ...(wrong === 0
              ? ["equal"]
              : [`${missing} missing here, ${different} with other values, ${extra} only here`]),
            ...(unfit > 0 ? [`${unfit} that do not fit the model`] : []),
            ...(repair && wrong > 0 ? [`${repaired} repaired`] : []),
          ];
          out(
            json ? `${JSON.stringify(found)}\n` : `${source} ${model}: ${records} records, ${differences.join("; ")}\n`,
          );
          if (!json) for (const example of examples) out(`  ${example}\n`);
        }
      });
      if (compared === 0 && away.length === 0) say("No model has an endpoint datasource.");
      if (!isEqual)
        throw new UsageError('Some records differ. "holdfast datasources verify --repair" reads them again.');
      if (away.length > 0) throw new UsageError(`${away.length} databases could not be asked.`);
    });
}

const SAY_EVERY = 10_000;
