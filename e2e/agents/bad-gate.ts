import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/**
 * `up`: it forwards everything. `down`: it refuses connections. `deaf`: requests reach the server, responses are lost.
 * `slow`: responses are delayed.
 */
export type Weather = "up" | "down" | "deaf" | "slow";

/** A proxy between an agent and the server. */
export interface BadGate {
  readonly url: string;
  /** Changes the mode and cuts all connections. */
  turn(weather: Weather): void;
  close(): void;
}

const SLOW_MS = 40;

export async function openBadGate(target: string): Promise<BadGate> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let weather: Weather = "up";
  const server = createServer((client) => {
    if (weather === "down") return void client.resetAndDestroy();
    const upstream = connect({ host: hostname, port: Number(port) });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream);
    const mine = weather;
    upstream.on("data", (bytes) => {
      if (mine === "deaf") return;
      if (mine === "slow") setTimeout(() => client.write(bytes), SLOW_MS);
      else client.write(bytes);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = () => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    turn(next) {
      weather = next;
      cut();
    },
    close() {
      server.close();
      cut();
    },
  };
}
