import { expect, test } from "vitest";
import { isPublicAddress } from "./public-address.ts";

test.each(["8.8.8.8", "1.1.1.1", "203.0.114.1", "172.32.0.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8"])(
  "[W2] %s is public",
  (address) => expect(isPublicAddress(address)).toBe(true),
);

test.each([
  ...["127.0.0.1", "127.255.255.254", "0.0.0.0", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1"],
  ...["169.254.169.254"],
  ...["100.64.0.1", "192.0.0.1", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "240.0.0.1"],
  ...["255.255.255.255", "::", "::1", "fc00::1", "fd12:3456::1", "fe80::1", "fec0::1", "ff02::1", "2001:db8::1"],
  // Private ones in the clothes of IPv6: mapped, translated, 6to4, Teredo.
  ...["::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:7f00:1", "64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b:1::1"],
  ...["2002:7f00:1::", "2001:0:7f00:1::", "::7f00:1", "::ffff:0:7f00:1", "100::1", "", "localhost", "1.2.3", "0x7f.1"],
])("[W2] %j is not public", (address) => expect(isPublicAddress(address)).toBe(false));
