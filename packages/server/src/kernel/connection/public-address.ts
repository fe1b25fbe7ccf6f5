import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * Whether an IP address belongs to the public internet: not to this machine or a private network, and not an IPv6 form
 * of such an address. Text that is no address is not public.
 */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0) return false;
  const address = ipaddr.process(text);
  if (address instanceof ipaddr.IPv4) return address.range() === "unicast";
  const inner = innerOf(address);
  return inner ? inner.range() === "unicast" : address.range() === "unicast" && address.match(GLOBAL);
}

/** The only range of global unicast addresses assigned so far. */
const GLOBAL = ipaddr.IPv6.parseCIDR("2000::/3");

/** The IPv4 address inside a NAT64 address: the last 32 bits. */
function innerOf(address: ipaddr.IPv6): ipaddr.IPv4 | undefined {
  return address.range() === "rfc6052" ? new ipaddr.IPv4(address.toByteArray().slice(12)) : undefined;
}
