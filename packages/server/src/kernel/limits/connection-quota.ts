import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { addressKey } from "./address-key.ts";

export interface QuotaLimits {
  /** Most open connections. */
  readonly connections: number;
  /** Of these, most anonymous ones in total and per address. */
  readonly connectionsAnonymous: number;
  readonly connectionsPerAddress: number;
}

/**
 * Limits open connections, so that connections without a valid token cannot crowd out the others. A connection is
 * anonymous until a request on it has a valid token. If there are too many, the oldest anonymous one is closed: a
 * client with a token sends it soon.
 */
export interface ConnectionQuota {
  watch(server: Server): void;
  /** A request on this connection had a valid token. */
  authenticated(socket: Duplex): void;
  /**
   * A request on this connection had no valid token. Returns true if the connection should be closed after this
   * response.
   */
  rejected(socket: Duplex): boolean;
}

/** Above the limits, an anonymous connection may be closed only once it is this old; one without any request sooner. */
const GRACE_MS = 10_000;
const SILENT_MS = 2_000;
/** Most consecutive 401 responses on one connection. */
const MOST_REJECTED = 5;

interface Anonymous {
  readonly address: string | undefined;
  readonly since: number;
  /** Whether a request has come. */
  hasAsked: boolean;
}

export function createConnectionQuota(
  { connections, connectionsAnonymous, connectionsPerAddress }: QuotaLimits,
  isProxy: (address: string) => boolean,
  now: () => number = () => performance.now(),
): ConnectionQuota {
  // Sets and maps keep the order of arrival.
  const anonymous = new Map<Duplex, Anonymous>();
  const byAddress = new Map<string, Set<Duplex>>();
  const rejections = new WeakMap<Duplex, number>();
  let open = 0;

  function onConnection(socket: Socket): void {
    const peer = socket.remoteAddress ?? "";
    // A proxy's connections come from many clients, so they do not count per address.
    const address = isProxy(peer) ? undefined : addressKey(peer);
    anonymous.set(socket, { address, since: now(), hasAsked: false });
    open += 1;
    socket.once("close", () => {
      open -= 1;
      forget(socket);
    });
    if (address !== undefined) {
      const own = byAddress.get(address) ?? new Set();
      byAddress.set(address, own.add(socket));
      if (own.size > connectionsPerAddress) closeOldest(own);
    }
    if (anonymous.size > connectionsAnonymous) closeOldest(anonymous.keys());
    if (open > connections) first(anonymous.keys())?.destroy();
  }

  /** Closes the oldest one that may be closed: sockets without a request make room for those with one. */
  function closeOldest(sockets: Iterable<Duplex>): void {
    for (const socket of sockets) {
      const known = anonymous.get(socket);
      if (!known || now() - known.since < (known.hasAsked ? GRACE_MS : SILENT_MS)) continue;
      socket.destroy();
      return;
    }
  }

  function onRequest(socket: Duplex): void {
    const known = anonymous.get(socket);
    if (known) known.hasAsked = true;
  }

  function forget(socket: Duplex): void {
    const known = anonymous.get(socket);
    anonymous.delete(socket);
    if (known?.address === undefined) return;
    const own = byAddress.get(known.address);
    own?.delete(socket);
    if (own?.size === 0) byAddress.delete(known.address);
  }

  return {
    watch(server) {
      server.on("connection", onConnection);
      server.on("request", ({ socket }) => onRequest(socket));
      server.on("upgrade", ({ socket }) => onRequest(socket));
    },
    authenticated(socket) {
      forget(socket);
      rejections.delete(socket);
    },
    rejected(socket) {
      const count = (rejections.get(socket) ?? 0) + 1;
      rejections.set(socket, count);
      return count >= MOST_REJECTED;
    },
  };
}

const first = <T>(items: Iterable<T>): T | undefined => items[Symbol.iterator]().next().value;
