import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { createClientAddress, type TrustedProxies } from "./client-address.ts";

const from = (trusted: TrustedProxies, peer: string, forwarded?: string) =>
  createClientAddress(trusted).of({
    socket: { remoteAddress: peer },
    headers: forwarded === undefined ? {} : { "x-forwarded-for": forwarded },
  } as IncomingMessage);

test.each<[string, TrustedProxies, string, string | undefined, string]>([
  ["no proxy is trusted by default", undefined, "10.0.0.1", "1.2.3.4", "10.0.0.1"],
  ["a listed proxy is believed", ["10.0.0.0/8"], "10.0.0.1", "1.2.3.4", "1.2.3.4"],
  ["and one in IPv6 clothes", ["10.0.0.0/8"], "::ffff:10.0.0.1", "1.2.3.4", "1.2.3.4"],
  ["another one is not", ["10.0.0.0/8"], "192.0.2.1", "1.2.3.4", "192.0.2.1"],
  ["what the client itself put before is not", ["10.0.0.0/8"], "10.0.0.1", "9.9.9.9, 1.2.3.4", "1.2.3.4"],
  ["two proxies in a row", ["10.0.0.1", "10.0.0.2"], "10.0.0.1", "1.2.3.4, 10.0.0.2", "1.2.3.4"],
  ["one hop is one address", 1, "192.0.2.1", "9.9.9.9, 1.2.3.4", "1.2.3.4"],
  ["two hops are two", 2, "192.0.2.1", "9.9.9.9, 1.2.3.4, 5.6.7.8", "1.2.3.4"],
  ["without the header it is the peer", 1, "192.0.2.1", undefined, "192.0.2.1"],
])("[B9] %s", (_, trusted, peer, forwarded, address) => {
  expect(from(trusted, peer, forwarded)).toBe(address);
});
