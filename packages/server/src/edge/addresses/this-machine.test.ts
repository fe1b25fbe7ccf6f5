import type { IncomingMessage } from "node:http";
import { expect, test } from "vitest";
import { isFromThisMachine } from "./this-machine.ts";

const from = (remoteAddress: string | undefined, headers: IncomingMessage["headers"] = {}) =>
  isFromThisMachine({ socket: { remoteAddress }, headers } as IncomingMessage);

test.each(["127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1"])("[O11] %s is this machine", (address) => {
  expect(from(address)).toBe(true);
});

test.each([
  ...["192.168.0.2", "10.0.0.1", "128.0.0.1", "::", "::2"],
  ...["fe80::1", "::ffff:192.0.2.1", "", "localhost", undefined],
])("[O11] %s is not", (address) => {
  expect(from(address)).toBe(false);
});

test.each(["forwarded", "x-forwarded-for", "via"])(
  "[O11] [O37] %s shows that a proxy forwarded the request",
  (name) => {
    expect(from("127.0.0.1", { [name]: "" })).toBe(false);
    expect(from("127.0.0.1", { [`${name}s`]: "x" })).toBe(true);
  },
);
