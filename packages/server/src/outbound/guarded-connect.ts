import { type LookupAddress, type LookupOptions, lookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { buildConnector } from "undici";
import { isPublicAddress } from "./public-address.ts";

/** The address is not one that we connect to. */
export class BlockedAddressError extends Error {
  readonly code = "blocked_address";
  constructor(host: string) {
    super(`${host} is not a public address.`);
  }
}

/**
 * Connects to public addresses only. A name is looked up once for each connection, and what is checked is what is
 * connected to: a name that was public when it was registered may lead elsewhere now.
 */
export function guardedConnector({ connectMs, allowPrivate }: { connectMs: number; allowPrivate: boolean }) {
  if (allowPrivate) return buildConnector({ timeout: connectMs });
  const connect = buildConnector({ timeout: connectMs, lookup: lookupPublic });
  return (options: buildConnector.Options, callback: buildConnector.Callback): void => {
    const host = options.hostname.replace(/^\[|\]$/g, "");
    // An address is connected to without being looked up.
    if (isIP(host) !== 0 && !isPublicAddress(host)) callback(new BlockedAddressError(host), null);
    else connect(options, callback);
  };
}

const lookupPublic: LookupFunction = (host, options: LookupOptions, callback) => {
  lookup(host, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    if (error) return callback(error, "", 0);
    // One of several is enough: it is not ours to choose.
    const inner = addresses.find(({ address }) => !isPublicAddress(address));
    const [first] = addresses;
    if (inner || !first) return callback(new BlockedAddressError(`${host} (${inner?.address ?? "nowhere"})`), "", 0);
    if (options.all) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
};
