import type { PublishedLogs } from "../edge/socket/session-deps.ts";
import type { SubmitCommits } from "../kernel/commits/flows/submit-commits.ts";
import { createParts, type Part, type Parts } from "../kernel/part.ts";
import { createSchemaCache } from "../kernel/schema/flows/schema-cache.ts";
import type { TenantData } from "../kernel/tenant-data.ts";
import type { Module } from "../modules/module.ts";
import { type ModuleRoutes, type OpenModules, openModules } from "../modules/open-modules.ts";
import { type Commits, openCommits, routesOfCommits, submitAndCount } from "./commits.ts";
import type { Connections } from "./connections.ts";
import type { DatabaseContext, ServerContext } from "./context.ts";
import { openHubs } from "./hubs.ts";
import { openMaintenance } from "./maintenance.ts";
import { openReads, type Reads } from "./reads.ts";
import { openSchemas, type Schemas } from "./schemas.ts";

type Routes = ReturnType<typeof routesOfCommits> & Reads["routes"] & Schemas["routes"] & ModuleRoutes;

/** Everything that serves the tenants of one database: their commits, reads and streams, and what modules add. */
export interface TenantDatabase extends Part, TenantData, Pick<Commits, "lanes">, Pick<OpenModules, "alive"> {
  /** What modules have opened, by name. */
  readonly modules: OpenModules["byName"];
  readonly followed: PublishedLogs;
  readonly routes: Routes;
}

/** If it cannot be opened, what it had opened is closed again. */
export async function openTenantDatabase(
  service: ServerContext,
  database: Connections,
  cacheBytes: number,
  all: readonly Module[],
): Promise<TenantDatabase> {
  const parts = createParts();
  return await openParts(parts, service, database, cacheBytes, all).catch((error: unknown) => parts.giveUp(error));
}

async function openParts(
  { opened, forget, stop, close }: Parts,
  service: ServerContext,
  { url, pool, tables, wake, verify }: Connections,
  cacheBytes: number,
  all: readonly Module[],
): Promise<TenantDatabase> {
  const schemas = createSchemaCache(cacheBytes / 2);
  const ctx: DatabaseContext = { ...service, url, pool, tables, wake, verify, cacheBytes, schemas };
  const maintenance = opened(openMaintenance(ctx));
  const hubs = opened(openHubs(ctx));
  const reads = opened(openReads(ctx, hubs));
  let modules: OpenModules | undefined;
  const commits = opened(
    openCommits(ctx, hubs, {
      after: (...grown) => modules?.after(...grown),
      changed: (change) => modules?.changed(change),
    }),
  );
  const { lanes, publishDrained } = commits;
  let submitAll: SubmitCommits | undefined;
  const submit: SubmitCommits = (...request) => {
    if (!submitAll) throw new Error("A commit was submitted before all modules were open.");
    return submitAll(...request);
  };
  modules = opened(await openModules({ ...ctx, lanes, submit, publishDrained, heads: hubs.heads }, all));
  submitAll = submitAndCount(ctx, commits, modules);
  modules.start();
  const schemaPushes = opened(openSchemas(ctx, hubs, maintenance));
  return {
    ...{ pool, schemas, lanes, alive: modules.alive, modules: modules.byName },
    ...{ forget, stop, close },
    followed: { ...hubs, modules: modules.streams },
    routes: {
      ...routesOfCommits(ctx, submit, reads),
      ...reads.routes,
      ...schemaPushes.routes,
      ...modules.routes,
    },
  };
}
