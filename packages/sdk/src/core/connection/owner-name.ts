/* The owner of a store, as a name: `<organization>/<live|test>/<kind>/<participant>`. */

/** What an older version of this package kept: `<kind>:<id>`, without the tenant. */
export const isShort = (owner: string): boolean => /^(user|agent|system):/.test(owner);

export const withoutTenant = (owner: string): string =>
  isShort(owner) ? owner.replace(":", "/") : owner.replace(/^[^/]*\/[^/]*\//, "");

/** Where either side does not know the tenant, the participant decides. */
export const isSameOwner = (a: string, b: string): boolean =>
  a === b || ((isShort(a) || isShort(b)) && withoutTenant(a) === withoutTenant(b));
