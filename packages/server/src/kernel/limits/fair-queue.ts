/**
 * A queue that is fair to tenants, and to the tokens within a tenant: round-robin over both. A tenant gives one item,
 * from its next token, and then goes to the end. A tenant whose item may not be taken now keeps its position.
 */
export interface FairQueue<T, K = number> {
  readonly size: number;
  sizeOf(tenant: K): number;
  push(tenant: K, token: string, item: T): void;
  remove(tenant: K, token: string, item: T): void;
  /** Takes items in fair order while `more` returns true. `may` decides about each item before it is taken. */
  take(may: (item: T, tenant: K) => boolean, more: () => boolean): void;
}

interface Tenant<T> {
  /** Token → its items, oldest first. Never empty. */
  readonly byToken: Map<string, T[]>;
}

export function createFairQueue<T, K = number>(): FairQueue<T, K> {
  // The maps' insertion order is the queue order: deleting and re-inserting a key moves it to the end.
  const tenants = new Map<K, Tenant<T>>();
  let size = 0;

  /** Takes one item of a tenant. Returns false if none may be taken now. */
  function takeOne(tenant: K, { byToken }: Tenant<T>, may: (item: T, tenant: K) => boolean): boolean {
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
    sizeOf(tenant) {
      let own = 0;
      for (const items of tenants.get(tenant)?.byToken.values() ?? []) own += items.length;
      return own;
    },
    push(tenant, token, item) {
      const own = tenants.get(tenant) ?? { byToken: new Map<string, T[]>() };
      const items = own.byToken.get(token);
      if (items) items.push(item);
      else own.byToken.set(token, [item]);
      if (!tenants.has(tenant)) tenants.set(tenant, own);
      size += 1;
    },
    remove(tenant, token, item) {
      const byToken = tenants.get(tenant)?.byToken;
      const items = byToken?.get(token);
      const at = items?.indexOf(item) ?? -1;
      if (!byToken || !items || at < 0) return;
      items.splice(at, 1);
      size -= 1;
      if (items.length === 0) byToken.delete(token);
      if (byToken.size === 0) tenants.delete(tenant);
    },
    take(may, more) {
      // A tenant that was passed over is not considered again in the same call.
      const passedOver = new Set<K>();
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
