import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { freshDatabase } from "../../testing/database.ts";
import { PublicSocket } from "./public-socket.ts";

const { url } = await freshDatabase();

/** The database behind a TCP port of this machine. */
async function behindPort(): Promise<number> {
  const { hostname, port } = new URL(url);
  const host = decodeURIComponent(hostname);
  const server = createServer((near) => {
    const far = host.startsWith("/")
      ? connect(join(host, `.s.PGSQL.${port || 5432}`))
      : connect(Number(port || 5432), host);
    near.pipe(far).pipe(near);
    for (const socket of [near, far])
      socket.on("error", () => {}).on("close", () => [near, far].map((one) => one.destroy()));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

test.each(["localhost", "127.0.0.1"])("[DS65] a public address is connected to: %s", async (host) => {
  const { username, password, pathname } = new URL(url);
  const client = new pg.Client({
    connectionString: `postgres://${username}:${password}@${host}:${await behindPort()}${pathname}?sslmode=disable`,
    // No public address can be reached from a test: this machine's stand for one.
    stream: () => new PublicSocket(undefined, () => true),
  });
  await client.connect();
  expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  await client.end();
});
