import { type LookupAddress, type LookupOptions, lookup as systemLookup } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { Agent, buildConnector } from "undici";
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

export interface GuardOptions {
  readonly connectMs: number;
  readonly allowPrivate: boolean;
  /** Defaults to the system's resolver. */
  readonly lookup?: Lookup;
}

// Shorter than the keep-alive of servers, so that no request is sent on a connection that is being closed.
const IDLE_MS = 1_000;

/** For requests with a deadline of their own, to public addresses only. */
export const guardedAgent = (guard: GuardOptions): Agent =>
  new Agent({
    connect: guardedConnector(guard),
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
  });

/**
 * Connects to public addresses only. Each connection resolves the name once and checks the very address that it then
 * connects to: a name that was public when the endpoint was created may resolve to a private address now (DNS
 * rebinding).
 */
function guardedConnector({ connectMs, allowPrivate, lookup = systemLookup }: GuardOptions) {
  if (allowPrivate) return buildConnector({ timeout: connectMs });
  const connect = buildConnector({ timeout: connectMs, lookup: publicOnly(lookup) });
  return (options: buildConnector.Options, callback: buildConnector.Callback): void => {
    const host = options.hostname.replace(/^\[|\]$/g, "");
    // The endpoint was created while http was allowed.
    if (options.protocol !== "https:") callback(new BlockedAddressError(`http://${host}`), null);
    // For an IP address there is no lookup to check, so check it here.
    else if (isIP(host) !== 0 && !isPublicAddress(host)) callback(new BlockedAddressError(host), null);
    else connect(options, callback);
  };
}

const publicOnly =
  (lookup: Lookup): LookupFunction =>
  (host, options, callback) =>
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, "", 0);
      // One private address among several is enough to refuse: the server does not choose which one is used.
      const inner = addresses.find(({ address }) => !isPublicAddress(address));
      const [first] = addresses;
      if (inner || !first) return callback(new BlockedAddressError(`${host} (${inner?.address ?? "nowhere"})`), "", 0);
      if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
