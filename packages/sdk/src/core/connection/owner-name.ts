import type { ClientState } from "../state.ts";

/* The owner of a store: `<organization>/<live|test>/<kind>/<participant>`. */

/** Older versions of this package stored `<kind>:<id>`, without the tenant. */
export const isShort = (owner: string): boolean => /^(user|agent|system):/.test(owner);

export const withoutTenant = (owner: string): string =>
  isShort(owner) ? owner.replace(":", "/") : owner.replace(/^[^/]*\/[^/]*\//, "");

/** If one side does not name the tenant, compare only the participants. */
export const isSameOwner = (a: string, b: string): boolean =>
  a === b || ((isShort(a) || isShort(b)) && withoutTenant(a) === withoutTenant(b));

/** `<kind>:<id>` of this client's participant, once the server has named it. */
export const participantOf = ({ self, owner }: Pick<ClientState, "self" | "owner">): string | undefined =>
  self?.participant ?? (owner === undefined ? undefined : withoutTenant(owner).replace("/", ":"));

export const anothersToken = ({ owner, tokenOwner }: Pick<ClientState, "owner" | "tokenOwner">): string =>
  `The token belongs to ${tokenOwner ?? "another participant"}, but this store belongs to ${owner}. ` +
  "Use a separate store for each participant and organization (options user and store).";
