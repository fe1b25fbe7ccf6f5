import type { Database } from "../db/connection/pool.ts";
import type { Changed } from "../flows/commits/round-result.ts";
import type { TakeCommits } from "../flows/commits/submit-commits.ts";
import type { DatasourceKind } from "../flows/datasource-kind.ts";
import { allPlaces } from "../flows/lists/record-places.ts";
import type { ModuleHooks } from "../flows/module-hooks.ts";
import type { Metrics } from "../metrics/prometheus.ts";
import { modules } from "../modules/list.ts";
import type { OpenStream } from "../realtime/handshake.ts";
import type { SocketModules } from "../realtime/socket-module.ts";
import type { StreamModules } from "../realtime/stream-module.ts";
import type { ModuleContext } from "./context.ts";
import type { DatabaseModule, Module, ServiceContext } from "./module.ts";
import { createParts, type Part } from "./part.ts";

/** Those that come with the server. */
export const builtIn: readonly Module[] = modules;

type RoutesOf<M> = M extends { openIn(ctx: ModuleContext): DatabaseModule<infer R> | Promise<DatabaseModule<infer R>> }
  ? R
  : never;
type Intersection<U> = (U extends unknown ? (of: U) => void : never) extends (of: infer I) => void ? I : never;
/** Those of the modules on the list. */
export type ModuleRoutes = Intersection<RoutesOf<(typeof modules)[number]>>;

/** The modules of one database, as one. */
export interface OpenModules extends Part {
  readonly routes: ModuleRoutes;
  readonly streams: readonly StreamModules[];
  readonly takers: readonly TakeCommits[];
  /** By name. */
  readonly open: ReadonlyMap<string, DatabaseModule>;
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
    routes: Object.assign({}, ...open.map(({ routes }) => routes)) as ModuleRoutes,
    streams: open.flatMap(({ streams }) => streams ?? []),
    takers: open.flatMap(({ takeCommits }) => takeCommits ?? []),
    open: named,
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
  readonly sockets: readonly SocketModules[];
  readonly datasources: readonly DatasourceKind[];
}

export function openServiceModules(ctx: ServiceContext, all: readonly Module[]): ServiceModules {
  const { opened, forget, stop, close } = createParts();
  const open = all.flatMap((module) => module.open?.(ctx) ?? []).map(opened);
  return {
    sockets: open.flatMap(({ sockets }) => sockets ?? []),
    datasources: open.flatMap(({ datasources }) => datasources ?? []),
    ...{ forget, stop, close },
  };
}

/** What modules do with tenants, in their order. */
export const hooksOf = (all: readonly Module[]): ModuleHooks => ({
  places: allPlaces(all.flatMap(({ places }) => places ?? [])),
  checkModels: all.flatMap((module) => module.checkModels ?? []),
  schemaPushed: all.flatMap((module) => module.schemaPushed ?? []),
  tokensEnded: all.flatMap((module) => module.tokensEnded ?? []),
  ofRecord: all.flatMap((module) => module.ofRecord ?? []),
  inRounds: all.flatMap((module) => module.inRounds ?? []),
});

/** For commands, which know no others. */
export const builtInHooks: ModuleHooks = hooksOf(builtIn);

export function measureModules(metrics: Metrics, pool: Database, all: readonly Module[]): void {
  for (const { measure } of all) measure?.(metrics, pool);
}
