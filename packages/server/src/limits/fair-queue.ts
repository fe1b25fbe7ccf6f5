/**
 * Who waits, by tenant and by token within a tenant. Turns go round: each tenant gives one item, of its token whose turn it
 * is, and then stands behind all others. A tenant whose item may not be taken now keeps its place.
 */
export interface FairQueue<T> {
  readonly size: number;
  push(tenant: number, token: string, item: T): void;
  /** Takes items in turn, as long as `more` says so. `may` decides about each before it is taken. */
  take(may: (item: T, tenant: number) => boolean, more: () => boolean): void;
}

interface Tenant<T> {
  /** Token → its items, the oldest first. Never empty. */
  readonly byToken: Map<string, T[]>;
}

export function createFairQueue<T>(): FairQueue<T> {
  // Both maps are in the order of turns: to go to the end, a key is taken out and put in again.
  const tenants = new Map<number, Tenant<T>>();
  let size = 0;

  /** Takes one item of a tenant; false: it may not now. */
  function takeOne(tenant: number, { byToken }: Tenant<T>, may: (item: T, tenant: number) => boolean): boolean {
    for (const [token, items] of byToken) {
      if (!may(items[0] as T, tenant)) continue;
      items.shift();
      size -= 1;
      byToken.delete(token);
      if (items.length > 0) byToken.set(token, items);
      return true;
    }
    return false;
  }

  return {
    get size() {
      return size;
    },
    push(tenant, token, item) {
      const own = tenants.get(tenant) ?? { byToken: new Map<string, T[]>() };
      const items = own.byToken.get(token);
      if (items) items.push(item);
      else own.byToken.set(token, [item]);
      if (!tenants.has(tenant)) tenants.set(tenant, own);
      size += 1;
    },
    take(may, more) {
      // A tenant that was passed over is not asked again in the same take.
      const passedOver = new Set<number>();
      while (more() && tenants.size > passedOver.size) {
        for (const [tenant, own] of [...tenants]) {
          if (!more()) return;
          if (passedOver.has(tenant)) continue;
          if (!takeOne(tenant, own, may)) {
            passedOver.add(tenant);
            continue;
          }
          tenants.delete(tenant);
          if (own.byToken.size > 0) tenants.set(tenant, own);
        }
      }
    },
  };
}
