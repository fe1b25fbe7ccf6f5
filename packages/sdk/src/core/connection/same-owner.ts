import type { ClientState } from "../state.ts";

/*
 * An owner that the app has named has `*` as its environment, which only the server knows. Such a name is partial until
 * the server has named the owner.
 */

const withoutEnvironment = (owner: string): string => owner.replace(/^([^/]*)\/[^/]*\//, "$1/");

export const isPartial = (owner: string): boolean => /^[^/]*\/\*\//.test(owner);

/** If one side does not name the environment, compare only the rest. */
export const isSameOwner = (a: string, b: string): boolean =>
  a === b || ((isPartial(a) || isPartial(b)) && withoutEnvironment(a) === withoutEnvironment(b));

/** The owner that the app names: the participant is a user, or `<kind>:<id>`. */
export function namedOwner({ organization, participant }: { organization: string; participant: string }): string {
  const whole = /^(user|agent|system):/.test(participant) ? participant : `user:${participant}`;
  return `${organization}/*/${whole.replace(":", "/")}`;
}

/**
 * The names under which an owner may have a store, in the order in which they are tried: the first owner has the store
 * with the plain name, each other one has a store whose name contains the owner.
 */
export function storeNames(store: string, owner: string): readonly string[] {
  const names = [store, `${store}@${withoutEnvironment(owner)}`];
  return isPartial(owner) ? names : [...names, `${store}@${owner}`];
}

type Owners = Pick<ClientState, "owner" | "tokenOwner" | "named">;

export function anothersToken({ owner, tokenOwner, named }: Owners): string {
  if (named !== undefined && tokenOwner && !isSameOwner(named, tokenOwner))
    return `The token belongs to ${tokenOwner}, but the app has named ${named} as its owner (option owner).`;
  const mine = tokenOwner
    ? `The token belongs to ${tokenOwner}`
    : named
      ? `The app has named ${named} as its owner`
      : "The token belongs to another participant";
  return `${mine}, but this store belongs to ${owner}. Close the client and create it again for each person who signs in. On a platform with only one store, use one for each participant and organization (option store).`;
}

/** Whether two of the owners differ: of the store, of the token, and the one that the app has named. */
export function areDifferent({ owner, tokenOwner, named }: Owners): boolean {
  const known = [owner, tokenOwner, named].filter((each): each is string => each !== undefined);
  return known.some((a) => known.some((b) => !isSameOwner(a, b)));
}
