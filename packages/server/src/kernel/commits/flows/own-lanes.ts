import type { Lane } from "./commit-lane.ts";
import type { Waiting } from "./commit-queue.ts";
import { tenantOf } from "./job.ts";

export type SharedLanes = Pick<Lane, "join" | "waiting" | "close">;

/**
 * The lanes of tenants whose rounds a module runs itself. A round there is of one tenant and may take long, so a tenant
 * with work waiting keeps its lane. One that has none takes the lane with the fewest requests.
 */
export function shareLanes(lanes: readonly Lane[]): SharedLanes {
  /** By tenant: its lane, and how many of its requests are there. */
  const busy = new Map<number, { readonly lane: Lane; requests: number }>();
  const requestsIn = (lane: Lane) =>
    [...busy.values()].reduce((sum, one) => sum + (one.lane === lane ? one.requests : 0), 0);

  function laneFor(): Lane {
    const loads = lanes.map(requestsIn);
    return lanes[loads.indexOf(Math.min(...loads))] as Lane;
  }

  return {
    join(one: Waiting) {
      const tenant = tenantOf(one.job);
      const place = busy.get(tenant) ?? { lane: laneFor(), requests: 0 };
      busy.set(tenant, place);
      place.requests += 1;
      place.lane.join({
        ...one,
        resolve(result) {
          place.requests -= 1;
          if (place.requests === 0) busy.delete(tenant);
          one.resolve(result);
        },
      });
    },
    get waiting() {
      return lanes.reduce((sum, lane) => sum + lane.waiting, 0);
    },
    close: async () => void (await Promise.all(lanes.map((lane) => lane.close()))),
  };
}
