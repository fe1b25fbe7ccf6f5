import type { LookupAddress, LookupOptions } from "node:dns";
import type { LookupFunction } from "node:net";
import { isPublicAddress } from "./public-address.ts";

/** The address is not public, so the server does not connect to it. */
export class BlockedAddressError extends Error {
  readonly code = "blocked_address";
  constructor(host: string) {
    super(`${host} is not a public https address.`);
  }
}

/** Resolves a name to all its addresses. */
export type Lookup = (
  host: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** Resolves a name, and refuses one that leads to a private address: the very address is checked that is connected to. */
export const publicOnly =
  (lookup: Lookup, isPublic = isPublicAddress): LookupFunction =>
  (host, options, callback) =>
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, "", 0);
      // One private address among several is enough to refuse: the server does not choose which one is used.
      const inner = addresses.find(({ address }) => !isPublic(address));
      const [first] = addresses;
      if (inner || !first) return callback(new BlockedAddressError(`${host} (${inner?.address ?? "nowhere"})`), "", 0);
      if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
