import { connect as connectPlain } from "node:net";
import { connect as connectSecure } from "node:tls";

/** Sends bytes unchanged, and returns what the server sent until the connection ended or the time was over. */
export function sendRaw(url: string, bytes: string | Buffer, waitMs = 5_000): Promise<string> {
  const { protocol, hostname, port } = new URL(url);
  const secure = protocol === "https:";
  const host = hostname.replace(/^\[|\]$/g, "");
  return new Promise((resolve) => {
    const socket = secure
      ? connectSecure({ host, servername: host, port: Number(port || 443) }, () => socket.write(bytes))
      : connectPlain({ host, port: Number(port || 80) }, () => socket.write(bytes));
    let text = "";
    const done = () => {
      clearTimeout(timer);
      socket.destroy();
      resolve(text);
    };
    const timer = setTimeout(done, waitMs);
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1");
    });
    socket.on("end", done);
    socket.on("error", done);
  });
}
