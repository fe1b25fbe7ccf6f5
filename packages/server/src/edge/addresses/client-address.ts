import type { IncomingMessage } from "node:http";
import proxyaddr from "@fastify/proxy-addr";

/** Trusted proxies: a number of hops, or a list of addresses and networks. Undefined: none. */
export type TrustedProxies = number | readonly string[] | undefined;

export interface ClientAddress {
  /** The client's address: the last one in the chain that is not a trusted proxy. */
  of(request: IncomingMessage): string;
  /** Whether connections from this address may carry requests of many clients. */
  isProxy(address: string): boolean;
}

/** Throws a TypeError for an invalid address or network. */
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

/** The longest address, with its zone. */
const ADDRESS_LENGTH = 64;
