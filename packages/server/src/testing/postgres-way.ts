import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { TLSSocket } from "node:tls";
import { onTestFinished } from "vitest";

export interface WayOptions {
  /** Answers TLS with this certificate. Undefined: it has none. */
  readonly tls?: { readonly key: string; readonly cert: string };
  /** Changes what the database says. */
  readonly rewrite?: (bytes: Buffer) => Buffer;
}

/** The message that asks for TLS. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

/** Another way to the Postgres of a connection string: a port forward, a proxy with TLS. Returns its port. */
export async function wayTo(
  connectionString: string,
  { tls, rewrite = (bytes) => bytes }: WayOptions = {},
): Promise<number> {
  const { hostname, port } = new URL(connectionString);
  const host = decodeURIComponent(hostname);
  const open = () =>
    host.startsWith("/") ? connect(join(host, `.s.PGSQL.${port || 5432}`)) : connect(Number(port || 5432), host);
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  };
  function forward(near: Socket, first: Buffer): void {
    const far = open();
    keep(far);
    far.write(first);
    near.pipe(far);
    far.on("data", (bytes: Buffer) => near.write(rewrite(bytes)));
    far.on("close", () => near.destroy());
    near.on("close", () => far.destroy());
  }
  const server = createServer((near) => {
    keep(near);
    near.once("data", (first: Buffer) => {
      if (!first.equals(SSL_REQUEST)) return forward(near, first);
      near.write(tls ? "S" : "N");
      if (!tls) return;
      const secure = new TLSSocket(near, { isServer: true, ...tls });
      keep(secure);
      secure.once("data", (hello: Buffer) => forward(secure, hello));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}
