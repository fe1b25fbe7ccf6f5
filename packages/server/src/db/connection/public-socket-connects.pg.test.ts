import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { freshDatabase } from "../../testing/database.ts";
import { connectTo } from "./connection.ts";
import { createPool, session } from "./pool.ts";
import { publicOnlyUrl } from "./public-socket.ts";

// No public address can be reached from a test: this machine's stand for one.
vi.mock("../../outbound/public-address.ts", () => ({ isPublicAddress: () => true }));

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

test.each(["localhost", "127.0.0.1"])(
  "[DS65] a public address is connected to, by the driver and by a pool: %s",
  async (host) => {
    const { username, password, pathname } = new URL(url);
    const way = publicOnlyUrl(
      `postgres://${username}:${password}@${host}:${await behindPort()}${pathname}?sslmode=disable`,
    );
    const client = await connectTo(way, session);
    expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    await client.end();
    const pool = createPool({ url: way });
    expect((await pool.query("select 2 as two")).rows).toEqual([{ two: 2 }]);
    await pool.end();
  },
);
