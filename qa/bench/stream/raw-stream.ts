// A socket of the stream as bare bytes: a library for WebSockets costs as much as what is measured.
import { randomBytes } from "node:crypto";
import { connect, type Socket } from "node:net";

const READ_BYTES = 65_536;
const TEXT_FRAME = 0x81;
const END_OF_ANSWER = "\r\n\r\n";
/** What comes to any socket is read into the same bytes: to make a place for each costs more than to search it. */
const environment = Buffer.allocUnsafe(READ_BYTES);

/** A frame as a client sends it: masked, here by zeros, which change nothing. Up to 125 bytes, and up to 65,535. */
function textFrame(text: string): Buffer {
  const payload = Buffer.from(text);
  const length =
    payload.length < 126 ? [0x80 | payload.length] : [0x80 | 126, payload.length >> 8, payload.length & 255];
  return Buffer.concat([Buffer.from([TEXT_FRAME, ...length, 0, 0, 0, 0]), payload]);
}

function upgradeRequest(host: string): string {
  return [
    "GET /v1/stream HTTP/1.1",
    `host: ${host}`,
    "connection: upgrade",
    "upgrade: websocket",
    "sec-websocket-version: 13",
    `sec-websocket-key: ${randomBytes(16).toString("base64")}`,
    "sec-websocket-protocol: holdfast.v1",
    "\r\n",
  ].join("\r\n");
}

/**
 * Opens a socket and says hello. `onFrames` gets the frames, cut as the network cut them, in bytes that are good until it returns.
 * Another answer than an upgrade is the socket's error.
 */
export function openRawStream(url: string, hello: object, onFrames: (chunk: Buffer) => void): Socket {
  const { hostname, port, host } = new URL(url);
  let answer: string | undefined = "";
  const receive = (chunk: Buffer): void => {
    if (answer === undefined) return onFrames(chunk);
    const before = answer.length;
    answer += chunk.toString("latin1");
    // The server's first frame may come together with its answer.
    const end = answer.indexOf(END_OF_ANSWER);
    if (end < 0) return;
    if (!answer.startsWith("HTTP/1.1 101 "))
      return void socket.destroy(new Error(`The stream was answered: ${answer}`));
    answer = undefined;
    socket.write(textFrame(JSON.stringify({ frame: "hello", ...hello })));
    const frames = chunk.subarray(end + END_OF_ANSWER.length - before);
    if (frames.length > 0) onFrames(frames);
  };
  const socket = connect({
    host: hostname,
    port: Number(port),
    noDelay: true,
    onread: {
      buffer: environment,
      callback: (length) => {
        receive(environment.subarray(0, length));
        return true;
      },
    },
  });
  socket.write(upgradeRequest(host));
  return socket;
}
