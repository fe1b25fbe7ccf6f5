import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A proxy in front of Postgres that can stop forwarding without closing a connection. */
export interface FreezingProxy {
  /** The database's URL through the proxy. */
  readonly url: string;
  /** Stops forwarding on all open and new connections. */
  freeze(): void;
  /** Forwards new connections again. Frozen ones stay frozen. */
  thaw(): void;
  /** The number of connections that are being forwarded. */
  open(): number;
  close(): void;
}

/** `openMs`: the delay before a new connection is forwarded. */
export async function freezingProxy(databaseUrl: string, { openMs = 0 } = {}): Promise<FreezingProxy> {
  const target = new URL(databaseUrl.replace(/^postgres(ql)?:/, "http:").replace(/@[^/]*\//, "@target/"));
  const host = decodeURIComponent(/@([^/]*)\//.exec(databaseUrl)?.[1] ?? "");
  const open = new Set<Socket>();
  const frozen = new Set<Socket>();
  let isFrozen = false;
  const server = createServer((near) => {
    const [path = "", port = "5432"] = host.split(/:(?=\d+$)/);
    const far = path.startsWith("/")
      ? connect(`${path}/.s.PGSQL.${port}`)
      : connect({ host: path, port: Number(port) });
    const end = () => {
      near.destroy();
      far.destroy();
      open.delete(near);
      frozen.delete(near);
    };
    // A frozen connection does not forward its end either.
    const forward = (from: Socket, to: Socket) => {
      from.on("data", (bytes) => !frozen.has(near) && to.write(bytes));
      from.on("close", () => !frozen.has(near) && end());
      from.on("error", () => {});
    };
    forward(near, far);
    forward(far, near);
    if (openMs > 0) {
      near.pause();
      setTimeout(() => near.resume(), openMs);
    }
    if (isFrozen) frozen.add(near);
    open.add(near);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `postgres://${target.username}:${target.password}@127.0.0.1:${port}${target.pathname}`,
    freeze() {
      isFrozen = true;
      for (const near of open) frozen.add(near);
    },
    thaw() {
      isFrozen = false;
    },
    open: () => open.size - frozen.size,
    close() {
      for (const near of open) near.destroy();
      server.close();
    },
  };
}
