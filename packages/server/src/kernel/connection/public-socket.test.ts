import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, test } from "vitest";
import { connectTo } from "./connection.ts";
import { failureCode } from "./database-error.ts";
import { session } from "./pool.ts";
import { isPublicOnly, PublicSocket, publicOnlyUrl } from "./public-socket.ts";

const leadsTo =
  (...addresses: string[]): ConstructorParameters<typeof PublicSocket>[0] =>
  (_host, _options, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    );

test.each([
  ["a name that leads to this machine", "db.example", ["127.0.0.1"]],
  ["a name with a public and a private address", "db.example", ["8.8.8.8", "10.0.0.1"]],
  ["a name that leads to IPv4 inside IPv6", "db.example", ["::ffff:127.0.0.1"]],
  ["a name that leads to link-local metadata", "db.example", ["169.254.169.254"]],
  ["a name that leads nowhere", "db.example", []],
  ["an address", "127.0.0.1", ["8.8.8.8"]],
  ["an IPv6 address", "[::1]", ["8.8.8.8"]],
  ["IPv4 inside IPv6", "::ffff:10.0.0.1", ["8.8.8.8"]],
  ["NAT64 of a private address", "64:ff9b::7f00:1", ["8.8.8.8"]],
  ["the path of a socket", undefined, ["8.8.8.8"]],
] as const)("[DS65] %s is not connected to", async (_, host, addresses) => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  let connections = 0;
  server.on("connection", () => connections++);
  const socket = new PublicSocket(leadsTo(...addresses));
  const failed = once(socket, "error") as Promise<[Error]>;
  if (host === undefined) socket.connect("/tmp/.s.PGSQL.5432");
  else socket.connect((server.address() as AddressInfo).port, host);
  const [error] = await failed;
  expect(error.message).toMatch(/leads to an address that is not public\.$/);
  expect(failureCode(error)).toBe("unavailable");
  expect(connections).toBe(0);
  server.close();
});

test("[DS65] the word is the last parameter of a connection string", () => {
  const url = "postgres://a@db.example/x?sslmode=verify-full";
  expect(isPublicOnly(publicOnlyUrl(url))).toBe(true);
  expect(isPublicOnly(url)).toBe(false);
  expect(isPublicOnly(undefined)).toBe(false);
});

test.each(["disable", "verify-full"])(
  "[DS65] a connection of the driver obeys it, with sslmode %s",
  async (sslmode) => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    let connections = 0;
    server.on("connection", () => connections++);
    const url = `postgres://a:b@localhost:${(server.address() as AddressInfo).port}/x?sslmode=${sslmode}`;
    await expect(connectTo(publicOnlyUrl(url), session)).rejects.toThrow(
      "localhost leads to an address that is not public.",
    );
    expect(connections).toBe(0);
    server.close();
  },
);
