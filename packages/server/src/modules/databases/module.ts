import { setTimeout as sleep } from "node:timers/promises";
import { newId } from "../../ids.ts";
import type { Transaction } from "../../kernel/connection/transaction.ts";
import { listTenants } from "../../kernel/organizations/db/organizations.ts";
import { startRepeating } from "../../kernel/workers/repeat.ts";
import type { Module, ServiceContext, ServiceModule } from "../module.ts";
import { findEmptiest, listUsedDatabases } from "./db/datasources.ts";
import { insertMove, readMove } from "./db/moves.ts";
import { prepareDatabase } from "./flows/check-database.ts";
import { datasourceFlows } from "./flows/datasource-flows.ts";
import { openDirectory } from "./flows/directory.ts";
import { giveUp } from "./flows/move-tenant.ts";
import { endMove, moveTenants } from "./flows/move-tenants.ts";
import { reencryptConnections } from "./flows/reencrypt-connections.ts";
import { checkReplacement } from "./flows/replace-address.ts";
import { datasourceReach } from "./reach.ts";
import { datasourceRoutes } from "./routes.ts";

/** Databases of tenants beside the service's own: where they are, their registration, and moves between them. */
export const databases = {
  name: "databases",
  directory: ({ options, encryption }, db) =>
    openDirectory(db, encryption, datasourceReach(options.datasourcesAllowPrivate === true)),
  open,
  organizationCreated: placeTenants,
} satisfies Module;

/** How long a request waits for a move, which for a small tenant is over by then. */
const PATIENCE_MS = 5_000;
const ASK_MS = 50;

/** Tenants of an organization go to the database that has the fewest. Empty ones move at once. */
async function placeTenants(tx: Transaction, organization: string): Promise<void> {
  const target = await findEmptiest(tx, organization);
  if (target === null) return;
  for (const { id } of await listTenants(tx, organization))
    await insertMove(tx, { id: newId("mov_"), tenant: id, target });
}

async function open(ctx: ServiceContext): Promise<ServiceModule<ReturnType<typeof datasourceRoutes>>> {
  const { own, service, directory, databases: opened, encryption, logger, options, stopping, report } = ctx;
  const { pool, url, wake } = own;
  const failed = report("move_failed");
  const reach = datasourceReach(options.datasourcesAllowPrivate === true);
  const urlOf = async (id: string | null): Promise<string> => (id === null ? url : (await directory.addressOf(id)).url);

  const unreadable = await reencryptConnections(pool, encryption);
  if (unreadable > 0)
    logger.warn(
      { event: "connections_unreadable", unreadable },
      "Connection strings of datasources are encrypted with a master key that is not configured.",
    );
  const moveAll = moveTenants({
    ...{ db: pool, failed, stopping, urlOf },
    moved(tenant) {
      ctx.hasMoved(tenant);
      wake.moved(tenant);
    },
  });
  const repeating = startRepeating(async () => {
    await opened.keep(await listUsedDatabases(pool));
    await moveAll();
    return undefined;
  }, failed);

  async function moveSoon(tenant: number): Promise<void> {
    await moveAll();
    const until = performance.now() + PATIENCE_MS;
    while (performance.now() < until && !stopping.aborted && (await readMove(pool, tenant))) await sleep(ASK_MS);
  }

  return {
    routes: datasourceRoutes(
      datasourceFlows({
        ...{ db: pool, kinds: ctx.datasourceKinds, encryption, dataOf: opened.of, healthOf: opened.healthOf, moveSoon },
        reopen: opened.reopen,
        leave: async ({ tenant }, id) => {
          const move = await readMove(pool, tenant);
          if (move?.target !== id) return "leaving";
          return await giveUp(await urlOf(move.source), tenant, () => endMove(pool, move), stopping);
        },
        prepare: prepareDatabase({ service, ...reach }),
        replaces: (before, next) => checkReplacement({ service, ...reach }, before, next),
      }),
    ),
    close: repeating.stop,
  };
}
