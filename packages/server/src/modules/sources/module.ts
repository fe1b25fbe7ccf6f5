import { webhookLimits } from "@holdfast/sdk/protocol";
import { createUrlCheck } from "../../edge/outbound/endpoint-url.ts";
import { createParts } from "../../kernel/part.ts";
import type { ModuleContext } from "../../open/context.ts";
import type { DatabaseModule, Module, ServiceContext, ServiceModule } from "../module.ts";
import { openCalls } from "./calls.ts";
import { askAgain } from "./db/intents.ts";
import { noteCall, readSource } from "./db/sources.ts";
import { askSources } from "./flows/ask-sources.ts";
import { reencryptSources, sourceKeys } from "./flows/call-source.ts";
import { checkSources } from "./flows/check-sources.ts";
import { intentsInRounds } from "./flows/intents-in-rounds.ts";
import { sourceFlows } from "./flows/source-flows.ts";
import { type AskSource, submitToSources } from "./flows/submit-commits.ts";
import { type FollowedSources, followSources } from "./follow-sources.ts";
import { SOURCES } from "./rules/tenant-intents.ts";

/** Services of callers that have the records of some models: endpoint datasources. */
export const sources = {
  name: SOURCES,
  open,
  openIn,
  checkModels: checkSources,
  inRounds: intentsInRounds,
} satisfies Module;

export interface OpenSources extends DatabaseModule {
  readonly verify: FollowedSources["verify"];
}

/** Their registration. */
function open({ own, databases, encryption, options }: ServiceContext): ServiceModule {
  return {
    datasources: sourceFlows({
      ...{ db: own.pool, dataOf: databases.of, keys: sourceKeys(encryption), rotationMs: webhookLimits.rotationMs },
      checkUrl: createUrlCheck({ allowPrivate: options.datasourcesAllowPrivate === true, param: "endpoint" }),
      verify: async (by, source) => ((await databases.moduleOf(SOURCES, by)) as OpenSources).verify(source),
    }),
  };
}

/** Calls to those of one database, commits on their way to them, and what they change by themselves. */
async function openIn(ctx: ModuleContext): Promise<OpenSources> {
  const { pool, lanes, encryption, logger, limits, incoming, options } = ctx;
  const unreadable = await reencryptSources(pool, encryption);
  if (unreadable > 0)
    logger.warn(
      { event: "source_keys_unreadable", unreadable },
      "Keys of endpoint datasources are encrypted with a master key that is not configured.",
    );
  const { opened, stop, close } = createParts();
  const { call } = opened(
    openCalls({
      ...{ encryption, incoming, recordBytes: limits.recordBytes },
      allowPrivate: options.datasourcesAllowPrivate === true,
      note: (source, shown) => noteCall(pool, source.tenant, source.id, shown),
    }),
  );
  const askOnce = askSources(async (tenant, id, commits) => {
    const source = await readSource(pool, tenant, id);
    return source && (await call(source, { type: "commit", datasource: id, commits: [...commits] }));
  });
  const ask: AskSource = async (intent) => {
    const answer = await askOnce(intent);
    // Without a database it is asked about when this process would have been too late.
    if (!answer) await askAgain(pool, intent).catch(() => {});
    return answer;
  };
  const { verify, start } = opened(followSources(ctx, { call, ask }));
  return { takeCommits: submitToSources(lanes, ask), verify, start, stop, close };
}
