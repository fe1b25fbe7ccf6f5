import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A POST as it will be sent, but for its ids. */
export interface Wanted {
  readonly path: string;
  readonly token?: string;
  readonly body: string;
}

/** Connections that send one request after the other, each as soon as the one before it is answered. */
export interface Sender {
  /** Goes on while `more` says so, asked before each request. */
  send(more: () => boolean): Promise<Sent>;
  close(): void;
}

export interface Sent {
  readonly answers: number;
  /** Answers that were not 2xx, and requests without one. */
  readonly failed: number;
}

/**
 * Whoever sends the load shares the machine with what is measured, so that it has to cost little: a request is bytes
 * that were made before, with its id written over the last one, and of an answer only the status and the end are looked
 * at. A client of HTTP costs as much as what it measures.
 */
export async function createSender(url: string, connections: number, wanted: readonly Wanted[]): Promise<Sender> {
  const { hostname, port, host } = new URL(url);
  const lines = await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true });
      await once(socket, "connect");
      return lineOn(
        socket,
        wanted.map((one) => messageOf(host, one)),
      );
    }),
  );
  return {
    async send(more) {
      const sent = await Promise.all(lines.map((line) => line.send(more)));
      const sum = (of: (one: Sent) => number) => sent.reduce((total, one) => total + of(one), 0);
      return { answers: sum(({ answers }) => answers), failed: sum(({ failed }) => failed) };
    },
    close: () => {
      for (const line of lines) line.close();
    },
  };
}

const MARK = "[<id>]";
/** What is written over a mark: the connection's own name, and a number. */
const NAME_LENGTH = 22;
const DIGITS = 10;

interface Message {
  readonly bytes: Buffer;
  /** Where its ids end. */
  readonly idEnds: readonly number[];
}

function messageOf(host: string, { path, token, body }: Wanted): Message {
  const name = randomBytes(NAME_LENGTH).toString("base64url").slice(0, NAME_LENGTH);
  const id = name + "0".repeat(DIGITS);
  const parts = body.split(MARK);
  const filled = Buffer.from(parts.join(id));
  const head = Buffer.from(
    [
      `POST ${path} HTTP/1.1`,
      `host: ${host}`,
      "content-type: application/json",
      ...(token === undefined ? [] : [`authorization: Bearer ${token}`]),
      `content-length: ${filled.length}`,
      "\r\n",
    ].join("\r\n"),
  );
  let end = head.length;
  const idEnds = parts.slice(0, -1).map((part) => (end += Buffer.byteLength(part) + id.length));
  return { bytes: Buffer.concat([head, filled]), idEnds };
}

function lineOn(socket: Socket, messages: readonly Message[]) {
  let turn = 0;
  let count = 0;
  let more: () => boolean = () => false;
  let over: (sent: Sent) => void = () => {};
  let sent = { answers: 0, failed: 0 };
  /** Of the answer that comes: what is there of its head, and how many bytes of its body are missing. Ours all tell their length. */
  let head: Buffer | undefined;
  let missing = 0;

  function next(): void {
    if (!more()) return over(sent);
    const { bytes, idEnds } = messages[turn++ % messages.length] as Message;
    const digits = String(++count);
    for (const end of idEnds) bytes.write(digits, end - digits.length, "latin1");
    socket.write(bytes);
  }

  socket.on("data", (chunk) => {
    if (missing > 0) missing -= chunk.length;
    else {
      const answer = head ? Buffer.concat([head, chunk]) : chunk;
      const end = answer.indexOf("\r\n\r\n");
      head = end < 0 ? answer : undefined;
      if (end < 0) return;
      const text = answer.toString("latin1", 0, end);
      const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1];
      if (length === undefined) return void socket.destroy();
      if (text.startsWith("HTTP/1.1 2")) sent.answers += 1;
      else sent.failed += 1;
      missing = end + 4 + Number(length) - answer.length;
    }
    if (missing === 0) next();
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    sent.failed += 1;
    over(sent);
  });

  return {
    send: (while_: () => boolean) =>
      new Promise<Sent>((resolve) => {
        more = while_;
        over = resolve;
        sent = { answers: 0, failed: 0 };
        if (socket.destroyed) resolve({ answers: 0, failed: 1 });
        else next();
      }),
    close: () => socket.destroy(),
  };
}
