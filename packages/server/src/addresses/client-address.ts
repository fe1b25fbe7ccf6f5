import type { IncomingMessage } from "node:http";
import proxyaddr from "@fastify/proxy-addr";

/** Which proxies are believed: so many before us, or those with these addresses and networks. Undefined: none. */
export type TrustedProxies = number | readonly string[] | undefined;

export interface ClientAddress {
  /** Where a request comes from: the last address that no trusted proxy has. */
  of(request: IncomingMessage): string;
  /** Whether a connection from there may carry requests of many clients. */
  isProxy(address: string): boolean;
}

/** Throws a TypeError where an address or a network is none. */
export function createClientAddress(trusted: TrustedProxies): ClientAddress {
  const isTrusted = trustOf(trusted);
  return {
    of: (request) => {
      const peer = request.socket.remoteAddress ?? "";
      if (request.headers["x-forwarded-for"] === undefined || peer === "") return peer;
      return proxyaddr(request, isTrusted).slice(0, ADDRESS_LENGTH);
    },
    isProxy: (address) => isTrusted(address, 0),
  };
}

type Trust = (address: string, hops: number) => boolean;

function trustOf(trusted: TrustedProxies): Trust {
  if (trusted === undefined) return () => false;
  return typeof trusted === "number" ? (_, hops) => hops < trusted : proxyaddr.compile([...trusted]);
}

/** Of the longest address, with its zone. */
const ADDRESS_LENGTH = 64;
