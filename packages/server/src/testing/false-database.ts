import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

const message = (kind: string, body: Buffer): Buffer => {
  const head = Buffer.alloc(5);
  head.write(kind, "latin1");
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};

/** What a Postgres says once a connection is accepted, and whenever an answer is complete. */
const READY = message("Z", Buffer.from("I"));
const ACCEPTED = Buffer.concat([message("R", Buffer.alloc(4)), READY]);
export const NOTICE = message("N", Buffer.from("SNOTICE\0C00000\0Mwait\0\0", "latin1"));
/** A row of 2 GiB, of which nothing has come yet. */
export const ENDLESS_ROW = Buffer.from([0x44, 0x7f, 0xff, 0xff, 0xff]);
/** A row without columns. */
export const ROW = message("D", Buffer.alloc(2));
/** The end of an answer without rows. */
export const NO_ROWS = Buffer.concat([message("C", Buffer.from("SELECT 0\0")), READY]);
export const FILLER = Buffer.alloc(64 * 1024);

/** A program that speaks like a Postgres until the first query. Returns its port. */
export async function falseDatabase(answer: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    socket.once("data", () => {
      socket.write(ACCEPTED);
      socket.once("data", () => answer(socket));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

/** Writes bytes as fast as they are read, for ever. */
export function endlessly(socket: Socket, bytes: Buffer): void {
  const more = () => {
    while (!socket.destroyed && socket.write(bytes));
  };
  socket.on("drain", more);
  more();
}
