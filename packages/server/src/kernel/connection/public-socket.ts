import { lookup as systemLookup } from "node:dns";
import { isIP, Socket } from "node:net";
import { isPublicAddress } from "./public-address.ts";
import { type Lookup, publicOnly } from "./public-lookup.ts";

/** The word in a connection string that allows public addresses only. The driver passes over it. */
const WORD = "public_only=1";

/** `url` has parameters. */
export const publicOnlyUrl = (url: string): string => `${url}&${WORD}`;

export const isPublicOnly = (url: string | undefined): boolean => url?.endsWith(`&${WORD}`) === true;

/**
 * Connects to public addresses only: a name that was public when the database was registered, or that led nowhere, may
 * lead to a private address at any later connection. The driver calls `connect(port, host)`, or with a socket's path.
 */
export class PublicSocket extends Socket {
  readonly #lookup: Lookup;
  readonly #isPublic: (address: string) => boolean;

  constructor(lookup: Lookup = systemLookup, isPublic = isPublicAddress) {
    super();
    this.#lookup = lookup;
    this.#isPublic = isPublic;
  }

  override connect(...to: readonly unknown[]): this {
    const [port, name] = to;
    // Node calls it again by itself, with its own options.
    if (typeof port === "object" && port !== null) return super.connect(port as never);
    const host = typeof name === "string" ? name.replace(/^\[|\]$/g, "") : "";
    if (host === "" || (isIP(host) !== 0 && !this.#isPublic(host))) {
      process.nextTick(() => this.destroy(blocked(host || String(port))));
      return this;
    }
    const lookup = publicOnly(this.#lookup, this.#isPublic);
    return super.connect({
      ...{ port: Number(port), host },
      lookup: (asked, options, callback) =>
        lookup(asked, options, (error, ...found) =>
          callback(error?.code === "blocked_address" ? blocked(asked) : error, ...found),
        ),
    });
  }
}

/** The code is like those of network errors: the database is away. */
const blocked = (host: string) =>
  Object.assign(new Error(`${host} leads to an address that is not public.`), { code: "EBLOCKED" });
