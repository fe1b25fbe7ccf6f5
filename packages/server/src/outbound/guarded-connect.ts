import { type LookupAddress, type LookupOptions, lookup as systemLookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { buildConnector } from "undici";
import { isPublicAddress } from "./public-address.ts";

/** The address is not one that we connect to. */
export class BlockedAddressError extends Error {
  readonly code = "blocked_address";
  constructor(host: string) {
    super(`${host} is not a public https address.`);
  }
}

/** All addresses of a name. */
export type Lookup = (
  host: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

export interface GuardOptions {
  readonly connectMs: number;
  readonly allowPrivate: boolean;
  /** The system's, unless it is said. */
  readonly lookup?: Lookup;
}

/**
 * Connects to public addresses only. A name is looked up once for each connection, and what is checked is what is
 * connected to: a name that was public when it was registered may lead elsewhere now.
 */
export function guardedConnector({ connectMs, allowPrivate, lookup = systemLookup }: GuardOptions) {
  if (allowPrivate) return buildConnector({ timeout: connectMs });
  const connect = buildConnector({ timeout: connectMs, lookup: publicOnly(lookup) });
  return (options: buildConnector.Options, callback: buildConnector.Callback): void => {
    const host = options.hostname.replace(/^\[|\]$/g, "");
    // Registered while that was allowed.
    if (options.protocol !== "https:") callback(new BlockedAddressError(`http://${host}`), null);
    // An address is connected to without being looked up.
    else if (isIP(host) !== 0 && !isPublicAddress(host)) callback(new BlockedAddressError(host), null);
    else connect(options, callback);
  };
}

const publicOnly =
  (lookup: Lookup): LookupFunction =>
  (host, options, callback) =>
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, "", 0);
      // One of several is enough: it is not ours to choose.
      const inner = addresses.find(({ address }) => !isPublicAddress(address));
      const [first] = addresses;
      if (inner || !first) return callback(new BlockedAddressError(`${host} (${inner?.address ?? "nowhere"})`), "", 0);
      if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
