import { serverLimits } from "@holdfast/sdk/protocol";
import { createPool } from "../db/connection/pool.ts";
import { type RecoveryDeps, readPlacesOfAll } from "../flows/moves/recover-tenant.ts";
import { openSourceTools, type SourceTools } from "../flows/sources/source-tools.ts";
import { createIncomingAnswers } from "../limits/incoming-answers.ts";
import { builtInHooks } from "./modules.ts";
import { openCalls } from "./sources.ts";

/**
 * Runs work on the endpoint datasources of all databases. What calls show of a source is not stored: this process may
 * reach other addresses than the server.
 */
export async function withSourceTools<T>(
  deps: RecoveryDeps & { readonly allowPrivate: boolean },
  work: (tools: SourceTools) => Promise<T>,
): Promise<T> {
  const problems = new Map<string, string>();
  const { call, close } = openCalls({
    ...deps,
    recordBytes: serverLimits.recordBytes,
    incoming: createIncomingAnswers({ perTenant: Number.POSITIVE_INFINITY, total: Number.POSITIVE_INFINITY }),
    async note({ id }, { problem }) {
      if (problem === null) problems.delete(id);
      else problems.set(id, problem);
    },
  });
  const places = await readPlacesOfAll(deps);
  const databases = places
    .filter(({ identity, problem }) => identity !== undefined && problem === undefined)
    .map(({ name, url = "" }) => ({ name, url, pool: createPool({ url, maxConnections: 1 }) }));
  const away = places.filter(({ problem }) => problem !== undefined);
  try {
    return await work(
      openSourceTools({
        databases,
        away,
        call,
        modules: builtInHooks.inRounds,
        problemOf: ({ id }) => problems.get(id),
      }),
    );
  } finally {
    await close();
    await Promise.all(databases.map(({ pool }) => pool.end()));
  }
}
