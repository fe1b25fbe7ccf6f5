import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { addressKey } from "./address-key.ts";

export interface QuotaLimits {
  /** Open at once. */
  readonly connections: number;
  /** Of them, those that have shown no valid token yet; and of those, the ones from one address. */
  readonly connectionsAnonymous: number;
  readonly connectionsPerAddress: number;
}

/**
 * Bounds open connections, such that those without a valid token take no place from the others. A connection is anonymous
 * until a request on it brings a valid token. One too many, and the oldest anonymous one is closed: whoever has a token
 * shows it soon.
 */
export interface ConnectionQuota {
  watch(server: Server): void;
  /** A request on it brought a valid token. */
  authenticated(socket: Duplex): void;
  /** A request on it brought none. True: that was the last one to be answered. */
  rejected(socket: Duplex): boolean;
}

/** Anonymous connections within their limits are not closed for being anonymous, and beyond them only if so old. */
const GRACE_MS = 10_000;
/** Answers of 401 in a row on one connection. */
const MOST_REJECTED = 5;

interface Anonymous {
  readonly address: string | undefined;
  readonly since: number;
}

export function createConnectionQuota(
  { connections, connectionsAnonymous, connectionsPerAddress }: QuotaLimits,
  isProxy: (address: string) => boolean,
  now: () => number = () => performance.now(),
): ConnectionQuota {
  // Sets and maps keep the order in which connections came.
  const anonymous = new Map<Duplex, Anonymous>();
  const byAddress = new Map<string, Set<Duplex>>();
  const rejections = new WeakMap<Duplex, number>();
  let open = 0;

  function came(socket: Socket): void {
    const peer = socket.remoteAddress ?? "";
    // What comes by way of a proxy is nobody's own.
    const address = isProxy(peer) ? undefined : addressKey(peer);
    anonymous.set(socket, { address, since: now() });
    open += 1;
    socket.once("close", () => {
      open -= 1;
      forget(socket);
    });
    if (address !== undefined) {
      const own = byAddress.get(address) ?? new Set();
      byAddress.set(address, own.add(socket));
      if (own.size > connectionsPerAddress) closeIfOld(first(own));
    }
    if (anonymous.size > connectionsAnonymous) closeIfOld(first(anonymous.keys()));
    if (open > connections) first(anonymous.keys())?.destroy();
  }

  function closeIfOld(socket: Duplex | undefined): void {
    const known = socket && anonymous.get(socket);
    if (known && now() - known.since >= GRACE_MS) socket.destroy();
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
    watch: (server) => void server.on("connection", came),
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
