import type { EndpointName } from "@holdfast/sdk/protocol";
import type { UsedHome } from "../db/datasources/datasources.ts";
import { sentence } from "../flows/datasources/check-database.ts";
import type { ApiRequest, Handler } from "../http/answer.ts";
import type { Followed } from "../realtime/session-deps.ts";
import { type DatabaseHealth, healthAfter } from "../rules/datasources/present-datasource.ts";
import type { Principal } from "../rules/tokens/participant.ts";
import type { HomePlane } from "./homes.ts";
import type { DatabaseModule } from "./module.ts";
import type { Part } from "./part.ts";
import type { Plane } from "./plane.ts";

type Home = Pick<Principal, "home">;

/**
 * The planes of this process. The service's own database has one from the start. That of another database opens when
 * one of its tenants first calls, and at the start for the work in its background; while it is away, its tenants get
 * 503, and other tenants do not notice.
 */
export interface Planes extends Part {
  /** The plane of the service's own database. */
  readonly own: Plane;
  of(tenant: Home): Plane | Promise<Plane>;
  followed(tenant: Home): Followed | Promise<Followed>;
  /** What the module of this name has opened there. Rejects if it has opened nothing. */
  moduleOf(name: string, tenant: Home): Promise<DatabaseModule>;
  /** Does something in each open plane. One that fails does not stop the others. */
  each(work: (plane: Plane, home: string | null) => Promise<void>): Promise<void>;
  /** The routes of all planes: each request goes to the plane of its caller. */
  readonly routes: Plane["routes"];
  /** Opens planes that are not open, and closes all but these. */
  keep(homes: readonly UsedHome[]): Promise<void>;
  /** The address of a home has changed. */
  reopen(home: string): void;
  healthOf(home: string): DatabaseHealth;
  /** The databases beside the service's own that this process serves. */
  served(): readonly ServedDatabase[];
}

export interface ServedDatabase {
  readonly id: string;
  /** As the operator calls it. Null: it is a tenant's own. */
  readonly name: string | null;
  readonly health: DatabaseHealth;
  /** Undefined: it is not open. */
  readonly plane: Plane | undefined;
}

export interface PlanesOptions {
  readonly own: Plane;
  open(home: string): Promise<HomePlane>;
  failed(error: unknown): void;
}

/** After a failure, how long requests fail at once: a database that is away should not delay each of them. */
const REST_MS = 1_000;

interface Place {
  readonly opening: Promise<HomePlane>;
  plane?: HomePlane;
  /** Monotonic, in milliseconds. */
  failedAt?: number;
  health: DatabaseHealth;
  isAsking?: boolean;
}

export function openPlanes({ own, open, failed }: PlanesOptions): Planes {
  const places = new Map<string, Place>();
  let used: readonly UsedHome[] = [];
  let isClosed = false;

  function openOnce(home: string): Promise<HomePlane> {
    const known = places.get(home);
    if (known && (known.failedAt === undefined || performance.now() - known.failedAt < REST_MS)) return known.opening;
    if (isClosed) return Promise.reject(Object.assign(new Error("The server stops."), { code: "ECANCELED" }));
    const requestedAt = Date.now();
    const before = known?.health ?? { failures: 0 };
    const place: Place = { opening: open(home), health: { ...before, requestedAt } };
    places.set(home, place);
    place.opening.then(
      (plane) => {
        if (isClosed) return void end(plane);
        place.plane = plane;
        place.health = healthAfter(before, { requestedAt, now: Date.now() });
      },
      (error: unknown) => {
        place.failedAt = performance.now();
        place.health = healthAfter(before, { requestedAt, now: Date.now() }, sentence(error));
      },
    );
    return place.opening;
  }

  const of: Planes["of"] = ({ home }) => (home === null ? own : (places.get(home)?.plane ?? openOnce(home)));

  const routed = (name: keyof Plane["routes"]): Handler<never> => {
    const inPlane = (plane: Plane, asked: ApiRequest<never>) => (plane.routes[name] as Handler<never>)(asked);
    return (asked) => {
      const plane = of(asked.principal);
      return plane instanceof Promise ? plane.then((opened) => inPlane(opened, asked)) : inPlane(plane, asked);
    };
  };

  const opened = () => [...places].flatMap(([home, { plane }]) => (plane ? [{ home, plane }] : []));

  async function end({ stop, close }: Plane): Promise<void> {
    await stop?.();
    await close?.();
  }

  /** A database that was opened may be away by now. */
  async function checkOpen(place: Place, { check }: HomePlane, { lodger }: UsedHome): Promise<void> {
    if (place.isAsking) return;
    place.isAsking = true;
    const requestedAt = Date.now();
    try {
      await check(lodger ?? undefined);
      place.health = healthAfter(place.health, { requestedAt, now: Date.now() });
    } catch (error) {
      place.health = healthAfter(place.health, { requestedAt, now: Date.now() }, sentence(error));
    } finally {
      place.isAsking = false;
    }
  }

  function forgetHome(home: string): void {
    const place = places.get(home);
    places.delete(home);
    void place?.opening.then(end).catch(() => {});
  }

  return {
    own,
    of,
    followed(tenant) {
      const plane = of(tenant);
      return plane instanceof Promise ? plane.then(({ followed }) => followed) : plane.followed;
    },
    async moduleOf(name, tenant) {
      const found = (await of(tenant)).open.get(name);
      if (!found) throw new Error(`The module "${name}" has opened nothing.`);
      return found;
    },
    async each(work) {
      const all = [{ home: null, plane: own }, ...opened()];
      const results = await Promise.allSettled(all.map(({ home, plane }) => work(plane, home)));
      for (const result of results) if (result.status === "rejected") failed(result.reason);
    },
    routes: Object.fromEntries(
      (Object.keys(own.routes) as EndpointName[]).map((name) => [name, routed(name as keyof Plane["routes"])]),
    ) as Plane["routes"],
    async keep(homes) {
      used = homes;
      const ids = new Set(homes.map(({ id }) => id));
      for (const home of [...places.keys()]) if (!ids.has(home)) forgetHome(home);
      for (const home of homes) {
        const opened = places.get(home.id)?.plane;
        // Another process has registered another address.
        if (opened && opened.address !== home.address) forgetHome(home.id);
        const place = places.get(home.id);
        if (place?.plane) void checkOpen(place, place.plane, home);
        else void openOnce(home.id).catch(failed);
      }
    },
    reopen: forgetHome,
    healthOf: (home) => places.get(home)?.health ?? { failures: 0 },
    served: () =>
      used.map(({ id, name }) => {
        const { health = { failures: 0 }, plane } = places.get(id) ?? {};
        return { id, name, health, plane };
      }),
    stop: async () => void (await Promise.all(opened().map(({ plane }) => plane.stop?.()))),
    async close() {
      isClosed = true;
      await Promise.all(opened().map(({ plane }) => plane.close?.()));
    },
  };
}
