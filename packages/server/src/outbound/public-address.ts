import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * Whether an IP address is one of the open internet: not of this machine, not of a private network, not one that stands
 * for such a one in IPv6. What is no address is not public.
 */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0) return false;
  const address = ipaddr.process(text);
  if (address instanceof ipaddr.IPv4) return address.range() === "unicast";
  const inner = innerOf(address);
  return inner ? inner.range() === "unicast" : address.range() === "unicast" && address.match(GLOBAL);
}

/** Of IPv6 the only part that is given out so far. */
const GLOBAL = ipaddr.IPv6.parseCIDR("2000::/3");

/** The IPv4 address that the NAT of a network with IPv6 alone would go to: the last 32 bits. */
function innerOf(address: ipaddr.IPv6): ipaddr.IPv4 | undefined {
  return address.range() === "rfc6052" ? new ipaddr.IPv4(address.toByteArray().slice(12)) : undefined;
}
