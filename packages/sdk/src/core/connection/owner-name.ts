import type { ClientState } from "../state.ts";

/*
 * The owner of a store: `<organization>/<live|test>/<kind>/<participant>`. What a page needs of it before the runtime is
 * loaded; the rest is in `same-owner.ts`.
 */

const withoutTenant = (owner: string): string => owner.replace(/^[^/]*\/[^/]*\//, "");

/**
 * The owner of this tab: of its token, or the one that the app has named. While the app gives another token, it is the
 * owner of the one before: that person's rows are shown. Undefined: not known.
 */
export const ownerOfTab = ({
  tokenOwner,
  named,
  lastOwner,
}: Pick<ClientState, "tokenOwner" | "named" | "lastOwner">): string | undefined => tokenOwner || named || lastOwner;

/** Why a tab beside an online leader shows nothing yet. */
export const OWNER_UNKNOWN = "The server has not named the owner of this tab's token yet.";

/** `<kind>:<id>` of this client's participant, once the server has named it. */
export const participantOf = ({ self, owner }: Pick<ClientState, "self" | "owner">): string | undefined =>
  self?.participant ?? (owner === undefined ? undefined : withoutTenant(owner).replace("/", ":"));
