import { setTimeout as sleep } from "node:timers/promises";
import { listHomes } from "../db/datasources/datasources.ts";
import { readMove } from "../db/moves/moves.ts";
import { type CheckDatabaseDeps, prepareDatabase } from "../flows/datasources/check-database.ts";
import { datasourceFlows } from "../flows/datasources/datasource-flows.ts";
import { checkReplacement } from "../flows/datasources/replace-address.ts";
import { giveUp } from "../flows/moves/move-tenant.ts";
import { endMove, moveTenants } from "../flows/moves/move-tenants.ts";
import { datasourceRoutes } from "../http/routes/datasources.ts";
import { startRepeating } from "../workers/repeat.ts";
import type { Authentication } from "./authentication.ts";
import type { ServerContext } from "./context.ts";
import type { OpenDatabase } from "./database.ts";
import type { ServiceModules } from "./modules.ts";
import type { Part } from "./part.ts";
import type { Planes } from "./planes.ts";
import type { Streams } from "./streams.ts";

/** How long a request waits for a move, which for a small tenant is over by then. */
const PATIENCE_MS = 5_000;
const ASK_MS = 50;

export interface Datasources extends Part {
  readonly routes: ReturnType<typeof datasourceRoutes>;
}

export interface DatasourcesDeps {
  readonly database: OpenDatabase;
  readonly service: Buffer;
  readonly reach: Omit<CheckDatabaseDeps, "service">;
  urlOf(home: string): Promise<string>;
  readonly authentication: Authentication;
  readonly planes: Planes;
  readonly streams: Streams;
  readonly modules: Pick<ServiceModules, "datasources">;
}

/** The databases of tenants: their registration, and moves between them. */
export function openDatasources(ctx: ServerContext, deps: DatasourcesDeps): Datasources {
  const { database, service, reach, urlOf, authentication, planes, streams, modules } = deps;
  const { pool, url, wake } = database;
  const failed = ctx.report("move_failed");

  /** Requests look the tenant's home up again, and streams open anew. */
  function rehomed(tenant: number): void {
    authentication.authenticator.forgetAll();
    streams.gateway.restart("the tenant has moved", (who) => who.tenant === tenant);
  }
  wake.subscribe({ home: rehomed, opened: authentication.authenticator.forgetAll });

  const moveAll = moveTenants({
    ...{ db: pool, failed, stopping: ctx.stopping },
    urlOf: async (home) => (home === null ? url : await urlOf(home)),
    moved(tenant) {
      rehomed(tenant);
      wake.home(tenant);
    },
  });
  const repeating = startRepeating(async () => {
    await planes.keep(await listHomes(pool));
    await moveAll();
    return undefined;
  }, failed);

  async function moveSoon(tenant: number): Promise<void> {
    await moveAll();
    const until = performance.now() + PATIENCE_MS;
    while (performance.now() < until && !ctx.stopping.aborted && (await readMove(pool, tenant))) await sleep(ASK_MS);
  }

  return {
    routes: datasourceRoutes(
      datasourceFlows({
        ...{
          db: pool,
          kinds: modules.datasources,
          encryption: ctx.encryption,
          dataOf: planes.of,
          healthOf: planes.healthOf,
          moveSoon,
          reopen: planes.reopen,
        },
        leave: async ({ tenant }, id) => {
          const move = await readMove(pool, tenant);
          if (move?.target !== id) return "leaving";
          const source = move.source === null ? url : await urlOf(move.source);
          return await giveUp(source, tenant, () => endMove(pool, move), ctx.stopping);
        },
        prepare: prepareDatabase({ service, ...reach }),
        replaces: (before, next) => checkReplacement({ service, ...reach }, before, next),
      }),
    ),
    close: repeating.stop,
  };
}
