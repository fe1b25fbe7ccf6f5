import type { Metrics } from "../edge/metrics/prometheus.ts";
import type { OpenStream } from "../edge/socket/handshake.ts";
import type { SocketModules } from "../edge/socket/socket-module.ts";
import type { StreamModules } from "../edge/socket/stream-module.ts";
import { AwayError } from "../kernel/away-error.ts";
import type { Changed } from "../kernel/commits/flows/round-result.ts";
import type { TakeCommits } from "../kernel/commits/flows/submit-commits.ts";
import type { Database } from "../kernel/connection/pool.ts";
import { allPlaces } from "../kernel/lists/flows/record-places.ts";
import type { ModuleHooks } from "../kernel/module-hooks.ts";
import { createParts, type Part } from "../kernel/part.ts";
import type { Directory } from "../kernel/tenant-data.ts";
import type { ModuleContext, ServerContext } from "../open/context.ts";
import { modules } from "./list.ts";
import type { DatabaseModule, Module, ServiceContext, ServiceModule } from "./module.ts";

/** Those that come with the server. */
export const builtIn: readonly Module[] = modules;

type RoutesIn<M> = M extends { openIn(ctx: ModuleContext): DatabaseModule<infer R> | Promise<DatabaseModule<infer R>> }
  ? R
  : never;
type RoutesOf<M> = M extends { open(ctx: ServiceContext): ServiceModule<infer R> | Promise<ServiceModule<infer R>> }
  ? R
  : never;
type Intersection<U> = (U extends unknown ? (of: U) => void : never) extends (of: infer I) => void ? I : never;
/** Those of the modules on the list, for each database. */
export type ModuleRoutes = Intersection<RoutesIn<(typeof modules)[number]>>;
/** For the whole process. */
export type ServiceRoutes = Intersection<RoutesOf<(typeof modules)[number]>>;

/** The modules of one database, as one. */
export interface OpenModules extends Part {
  /** All are open, and hear of what is committed. */
  start(): void;
  readonly routes: ModuleRoutes;
  readonly streams: readonly StreamModules[];
  readonly takers: readonly TakeCommits[];
  /** By name. */
  readonly byName: ReadonlyMap<string, DatabaseModule>;
  alive(present: readonly OpenStream[]): Promise<void>;
  changed(change: Changed): void;
  after(tenant: number, entries: number): void;
}

export async function openModules(ctx: ModuleContext, all: readonly Module[]): Promise<OpenModules> {
  const { opened, forget, stop, close, giveUp } = createParts();
  const named = new Map<string, DatabaseModule>();
  async function openEach(): Promise<void> {
    for (const { name, openIn } of all) if (openIn) named.set(name, opened(await openIn(ctx)));
  }
  await openEach().catch(giveUp);
  const open = [...named.values()];
  return {
    start() {
      for (const { start } of open) start?.();
    },
    routes: Object.assign({}, ...open.map(({ routes }) => routes)) as ModuleRoutes,
    streams: open.flatMap(({ streams }) => streams ?? []),
    takers: open.flatMap(({ takeCommits }) => takeCommits ?? []),
    byName: named,
    async alive(present) {
      await Promise.all(open.map(({ alive }) => alive?.(present)));
    },
    changed: ({ module, tenant }) => named.get(module)?.changed?.(tenant),
    after(tenant, entries) {
      for (const { after } of open) after?.(tenant, entries);
    },
    ...{ forget, stop, close },
  };
}

/** What modules do once for the whole process. */
export interface ServiceModules extends Part {
  readonly routes: ServiceRoutes;
  readonly sockets: readonly SocketModules[];
}

export async function openServiceModules(
  ctx: Omit<ServiceContext, "datasourceKinds">,
  all: readonly Module[],
): Promise<ServiceModules> {
  const { opened, forget, stop, close, giveUp } = createParts();
  const open: ServiceModule[] = [];
  const datasourceKinds = () => open.flatMap(({ datasources }) => datasources ?? []);
  async function openEach(): Promise<void> {
    for (const module of all) if (module.open) open.push(opened(await module.open({ ...ctx, datasourceKinds })));
  }
  await openEach().catch(giveUp);
  return {
    routes: Object.assign({}, ...open.map(({ routes }) => routes)) as ServiceRoutes,
    sockets: open.flatMap(({ sockets }) => sockets ?? []),
    ...{ forget, stop, close },
  };
}

/** Where databases of tenants are. Without a module that knows, there are none beside the service's own. */
export function directoryOf(ctx: ServerContext, db: Database, all: readonly Module[]): Directory {
  for (const { directory } of all) if (directory) return directory(ctx, db);
  return {
    addressOf: (id) => Promise.reject(new AwayError(`There is no database ${id}.`)),
    hosts: async () => new Map(),
  };
}

/** What modules do with tenants, in their order. */
export const hooksOf = (all: readonly Module[]): ModuleHooks => ({
  places: allPlaces(all.flatMap(({ places }) => places ?? [])),
  checkModels: all.flatMap((module) => module.checkModels ?? []),
  schemaPushed: all.flatMap((module) => module.schemaPushed ?? []),
  tokensEnded: all.flatMap((module) => module.tokensEnded ?? []),
  organizationCreated: all.flatMap((module) => module.organizationCreated ?? []),
  ofRecord: all.flatMap((module) => module.ofRecord ?? []),
  inRounds: all.flatMap((module) => module.inRounds ?? []),
});

/** For commands, which know no others. */
export const builtInHooks: ModuleHooks = hooksOf(builtIn);

export function measureModules(metrics: Metrics, pool: Database, all: readonly Module[]): void {
  for (const { measure } of all) measure?.(metrics, pool);
}
