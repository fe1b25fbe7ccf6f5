import type { EndpointName } from "@holdfast/sdk/protocol";
import type { ApiRequest, Handler } from "../edge/http/answer.ts";
import type { PublishedLogs } from "../edge/socket/session-deps.ts";
import { sentence } from "../kernel/connection/error-sentence.ts";
import { type DatabaseHealth, healthAfter } from "../kernel/database-health.ts";
import type { Part } from "../kernel/part.ts";
import type { TenantPlace, UsedDatabase } from "../kernel/tenant-data.ts";
import type { DatabaseModule } from "../modules/module.ts";
import type { OtherDatabase } from "./other-databases.ts";
import type { TenantDatabase } from "./tenant-database.ts";

/**
 * The databases with tenants that this process serves. The service's own is open from the start. Another one opens when
 * one of its tenants first calls, and at the start for the work in its background; while it is away, its tenants get
 * 503, and other tenants do not notice.
 */
export interface TenantDatabases extends Part {
  /** The service's own. */
  readonly own: TenantDatabase;
  of(tenant: TenantPlace): TenantDatabase | Promise<TenantDatabase>;
  followed(tenant: TenantPlace): PublishedLogs | Promise<PublishedLogs>;
  /** What the module of this name has opened there. Rejects if the database is away, or there is none. */
  moduleOf(name: string, tenant: TenantPlace): Promise<DatabaseModule>;
  /** Does something in each open one. One that fails does not stop the others. */
  each(work: (database: TenantDatabase, id: string | null) => Promise<void>): Promise<void>;
  /** Each request goes to the database of its caller. */
  readonly routes: TenantDatabase["routes"];
  /** Opens those that are not open, and closes all others. */
  keep(used: readonly UsedDatabase[]): Promise<void>;
  /** It has another address, or other logs. */
  reopen(id: string): void;
  healthOf(id: string): DatabaseHealth;
  /** Those beside the service's own. */
  served(): readonly ServedDatabase[];
}

export interface ServedDatabase {
  readonly id: string;
  /** As the operator calls it. Null: it is a tenant's own. */
  readonly name: string | null;
  readonly health: DatabaseHealth;
  /** Undefined: it is not open. */
  readonly database: TenantDatabase | undefined;
}

export interface TenantDatabasesOptions {
  readonly own: TenantDatabase;
  open(id: string): Promise<OtherDatabase>;
  failed(error: unknown): void;
}

/** After a failure, how long requests fail at once: a database that is away should not delay each of them. */
const REST_MS = 1_000;

interface Known {
  readonly opening: Promise<OtherDatabase>;
  database?: OtherDatabase;
  /** Monotonic, in milliseconds. */
  failedAt?: number;
  health: DatabaseHealth;
  isAsking?: boolean;
}

export function openTenantDatabases({ own, open, failed }: TenantDatabasesOptions): TenantDatabases {
  /** By id. */
  const others = new Map<string, Known>();
  let isClosed = false;
  let used: readonly UsedDatabase[] = [];

  function openOnce(id: string): Promise<OtherDatabase> {
    const before = others.get(id);
    if (before && (before.failedAt === undefined || performance.now() - before.failedAt < REST_MS))
      return before.opening;
    if (isClosed) return Promise.reject(Object.assign(new Error("The server stops."), { code: "ECANCELED" }));
    const requestedAt = Date.now();
    const { health } = before ?? { health: { failures: 0 } };
    const known: Known = { opening: open(id), health: { ...health, requestedAt } };
    others.set(id, known);
    known.opening.then(
      (opened) => {
        if (isClosed) return void end(opened);
        known.database = opened;
        known.health = healthAfter(health, { requestedAt, now: Date.now() });
      },
      (error: unknown) => {
        known.failedAt = performance.now();
        known.health = healthAfter(health, { requestedAt, now: Date.now() }, sentence(error));
      },
    );
    return known.opening;
  }

  const of: TenantDatabases["of"] = ({ database }) =>
    database === null ? own : (others.get(database)?.database ?? openOnce(database));

  const routed = (name: keyof TenantDatabase["routes"]): Handler<never> => {
    const at = ({ routes }: TenantDatabase, asked: ApiRequest<never>) => (routes[name] as Handler<never>)(asked);
    return (asked) => {
      const found = of(asked.principal);
      return found instanceof Promise ? found.then((database) => at(database, asked)) : at(found, asked);
    };
  };

  const opened = () => [...others].flatMap(([id, one]) => (one.database ? [{ id, database: one.database }] : []));

  async function end({ stop, close }: TenantDatabase): Promise<void> {
    await stop?.();
    await close?.();
  }

  /** A database that was opened may be away by now. */
  async function checkOpen(known: Known, { check }: OtherDatabase, { onlyTenant }: UsedDatabase): Promise<void> {
    if (known.isAsking) return;
    known.isAsking = true;
    const requestedAt = Date.now();
    try {
      await check(onlyTenant ?? undefined);
      known.health = healthAfter(known.health, { requestedAt, now: Date.now() });
    } catch (error) {
      known.health = healthAfter(known.health, { requestedAt, now: Date.now() }, sentence(error));
    } finally {
      known.isAsking = false;
    }
  }

  function forgetOne(id: string): void {
    const known = others.get(id);
    others.delete(id);
    void known?.opening.then(end).catch(() => {});
  }

  return {
    own,
    of,
    followed(tenant) {
      const found = of(tenant);
      return found instanceof Promise ? found.then(({ followed }) => followed) : found.followed;
    },
    async moduleOf(name, tenant) {
      const found = (await of(tenant)).modules.get(name);
      if (!found) throw new Error(`The module "${name}" has opened nothing.`);
      return found;
    },
    async each(work) {
      const all = [{ id: null, database: own }, ...opened()];
      const results = await Promise.allSettled(all.map(({ id, database }) => work(database, id)));
      for (const result of results) if (result.status === "rejected") failed(result.reason);
    },
    routes: Object.fromEntries(
      (Object.keys(own.routes) as EndpointName[]).map((name) => [name, routed(name as keyof TenantDatabase["routes"])]),
    ) as TenantDatabase["routes"],
    async keep(now) {
      used = now;
      const ids = new Set(now.map(({ id }) => id));
      for (const id of [...others.keys()]) if (!ids.has(id)) forgetOne(id);
      for (const one of now) {
        const before = others.get(one.id)?.database;
        // Another process has registered another address.
        if (before && before.address !== one.address) forgetOne(one.id);
        const known = others.get(one.id);
        if (known?.database) void checkOpen(known, known.database, one);
        else void openOnce(one.id).catch(failed);
      }
    },
    reopen: forgetOne,
    healthOf: (id) => others.get(id)?.health ?? { failures: 0 },
    served: () =>
      used.map(({ id, name }) => {
        const { health = { failures: 0 }, database } = others.get(id) ?? {};
        return { id, name, health, database };
      }),
    stop: async () => void (await Promise.all(opened().map(({ database }) => database.stop?.()))),
    async close() {
      isClosed = true;
      await Promise.all(opened().map(({ database }) => database.close?.()));
    },
  };
}
