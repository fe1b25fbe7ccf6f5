import { lookup as systemLookup } from "node:dns";
import { isIP } from "node:net";
import { Agent, buildConnector, type Dispatcher } from "undici";
import { isPublicAddress } from "../../kernel/connection/public-address.ts";
import { BlockedAddressError, type Lookup, publicOnly } from "../../kernel/connection/public-lookup.ts";
import { boundedAnswers } from "./bounded-answer.ts";

export interface GuardOptions {
  readonly connectMs: number;
  readonly allowPrivate: boolean;
  /** Defaults to the system's resolver. */
  readonly lookup?: Lookup;
}

// Shorter than the keep-alive of servers, so that no request is sent on a connection that is being closed.
const IDLE_MS = 1_000;

/** For requests with a deadline of their own, to public addresses only. */
export const guardedAgent = (guard: GuardOptions): Dispatcher =>
  new Agent({
    connect: guardedConnector(guard),
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
    headersTimeout: 0,
    bodyTimeout: 0,
  }).compose(boundedAnswers);

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
