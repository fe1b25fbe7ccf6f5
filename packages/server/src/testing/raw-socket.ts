import { connect, type Socket } from "node:net";

/** Opens a connection and sends raw bytes. */
export const sending = (url: string, bytes: string): Promise<Socket> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.write(bytes, () => resolve(socket)));
    socket.on("error", () => {});
  });

/** All that comes until the connection ends. */
export const textOf = (socket: Socket): Promise<string> =>
  new Promise((resolve) => {
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
    });
    socket.on("close", () => resolve(text));
  });
