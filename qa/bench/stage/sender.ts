import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";

/** A POST as it will be sent, but for its ids: `[<id>]` in a body becomes another id every time, `[<ns>]` the time of sending. */
export interface Wanted {
  readonly path: string;
  readonly token?: string;
  readonly body: string;
}

/** Connections that send one request after the other, each as soon as the one before it is answered. */
export interface Sender {
  /** Goes on while `more` says so, asked before each request. */
  send(more: () => boolean): Promise<Sent>;
  /** Sends one request on a connection that waits for no answer: undefined when all do. */
  post(): Promise<Sent> | undefined;
  close(): void;
}

export interface Sent {
  readonly answers: number;
  /** Answers that were not 2xx, and requests without one. */
  readonly failed: number;
}

/**
 * The sender shares the machine with what is measured, so it has to cost little: a request is bytes
 * that were made before, with its id written over the last one, and of an answer only the status and the end are looked
 * at. A client of HTTP costs as much as what it measures.
 */
export async function createSender(url: string, connections: number, wanted: readonly Wanted[]): Promise<Sender> {
  const { hostname, port, host } = new URL(url);
  const lines = await Promise.all(
    Array.from({ length: connections }, () =>
      openLine(
        { host: hostname, port: Number(port) },
        wanted.map((one) => messageOf(host, one)),
      ),
    ),
  );
  const idle = [...lines];
  return {
    async send(more) {
      const sent = await Promise.all(lines.map((line) => line.send(more)));
      const sum = (of: (one: Sent) => number) => sent.reduce((total, one) => total + of(one), 0);
      return { answers: sum(({ answers }) => answers), failed: sum(({ failed }) => failed) };
    },
    post() {
      const line = idle.shift();
      let left = 1;
      return line
        ?.send(() => left-- > 0)
        .finally(() => {
          idle.push(line);
        });
    },
    close: () => {
      for (const line of lines) line.close();
    },
  };
}

const MARKS = /\[<(id|ns)>\]/;
/** What is written over a mark for an id: the connection's own name, and a number. */
const NAME_LENGTH = 22;
const DIGITS = 10;
/** Of `process.hrtime.bigint()`, which all processes of a machine have in common. */
const TIME_DIGITS = 20;

interface Message {
  readonly bytes: Buffer;
  /** Where its ids end. */
  readonly idEnds: readonly number[];
  /** Where its times begin. */
  readonly times: readonly number[];
}

function messageOf(host: string, { path, token, body }: Wanted): Message {
  const name = randomBytes(NAME_LENGTH).toString("base64url").slice(0, NAME_LENGTH);
  const room = { id: name + "0".repeat(DIGITS), ns: "0".repeat(TIME_DIGITS) };
  // Every other part is the kind of a mark.
  const parts = body.split(MARKS).map((part, i) => ({ isMark: i % 2 === 1, part }));
  const filled = Buffer.from(
    parts.map(({ isMark, part }) => (isMark ? room[part as keyof typeof room] : part)).join(""),
  );
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
  const marks = { id: [] as number[], ns: [] as number[] };
  let at = head.length;
  for (const { isMark, part } of parts) {
    if (isMark) marks[part as keyof typeof marks].push(at);
    at += Buffer.byteLength(isMark ? room[part as keyof typeof room] : part);
  }
  const idEnds = marks.id.map((begin) => begin + room.id.length);
  return { bytes: Buffer.concat([head, filled]), idEnds, times: marks.ns };
}

/** What comes is read into the same bytes every time: to make a place for it anew costs more than to read it. */
const READ_BYTES = 65_536;

async function openLine(server: { host: string; port: number }, messages: readonly Message[]) {
  const environment = Buffer.allocUnsafe(READ_BYTES);
  const onread = {
    buffer: environment,
    callback: (length: number) => {
      receive(environment.subarray(0, length));
      return true;
    },
  };
  const socket = connect({ ...server, noDelay: true, onread });
  await once(socket, "connect");
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
    const { bytes, idEnds, times } = messages[turn++ % messages.length] as Message;
    const digits = String(++count);
    for (const end of idEnds) bytes.write(digits, end - digits.length, "latin1");
    for (const begin of times) bytes.write(String(process.hrtime.bigint()).padStart(TIME_DIGITS, "0"), begin, "latin1");
    socket.write(bytes);
  }

  function receive(chunk: Buffer): void {
    if (missing > 0) missing -= chunk.length;
    else {
      const answer = head ? Buffer.concat([head, chunk]) : chunk;
      const end = answer.indexOf("\r\n\r\n");
      head = end < 0 ? Buffer.from(answer) : undefined;
      if (end < 0) return;
      const text = answer.toString("latin1", 0, end);
      const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1];
      if (length === undefined) return void socket.destroy();
      if (text.startsWith("HTTP/1.1 2")) sent.answers += 1;
      else sent.failed += 1;
      missing = end + 4 + Number(length) - answer.length;
    }
    if (missing === 0) next();
  }
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
