// The floor of telling many sockets: a server that has no clients, log or rules, and writes what is posted to all of them,
// as one frame that is made once.
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { Socket } from "node:net";

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const sockets = new Set<Socket>();

function frameOf(text: string): Buffer {
  const payload = Buffer.from(text);
  const head = payload.length < 126 ? [0x81, payload.length] : [0x81, 126, payload.length >> 8, payload.length & 255];
  return Buffer.concat([Buffer.from(head), payload]);
}

const welcome = frameOf('{"frame":"welcome"}');
const server = createServer((request, response) => {
  let body = "";
  request.setEncoding("latin1");
  request.on("data", (chunk: string) => {
    body += chunk;
  });
  request.on("end", () => {
    response.end("{}");
    const frame = frameOf(`{"frame":"entries","from":0,"to":1,"entries":[${body}]}`);
    for (const socket of sockets) socket.write(frame);
  });
});
server.on("upgrade", (request, socket: Socket) => {
  const key = createHash("sha1").update(`${request.headers["sec-websocket-key"]}${GUID}`).digest("base64");
  socket.setNoDelay(true);
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${key}\r\n\r\n`,
  );
  socket.write(welcome);
  sockets.add(socket);
  socket.on("data", () => {});
  socket.on("error", () => {});
  socket.on("close", () => sockets.delete(socket));
});
// A connection waits for seconds until it is its turn again.
server.keepAliveTimeout = 120_000;
server.listen(0, "127.0.0.1", () => {
  const address = server.address() as { port: number };
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${address.port}` })}\n`);
});
process.on("SIGTERM", () => process.exit(0));
