import { once } from "node:events";
import { connect } from "node:net";

export interface RawAnswer {
  readonly status: number;
  readonly closes: boolean;
}

/** A connection of an HTTP client that is kept: what it has asked, and what was answered. */
export interface KeptConnection {
  readonly asked: number;
  readonly answers: readonly RawAnswer[];
  /** Resolves once the connection has ended, with the code of its error. */
  readonly ended: Promise<string | undefined>;
  /** Writes requests at once. Without `whole`, the last one lacks its end. */
  ask(count?: number, whole?: boolean): void;
  finish(): void;
  /** Asks again after each answer, until the server says that the connection closes. */
  keepAsking(): void;
  destroy(): void;
}

/** Opens a connection whose requests are all alike. */
export async function keptConnection(url: string, request: string): Promise<KeptConnection> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const answers: RawAnswer[] = [];
  let asked = 0;
  let isBusy = false;
  let text = "";
  let error: string | undefined;
  socket.on("error", ({ code }: NodeJS.ErrnoException) => (error = code));
  const ended = once(socket, "close").then(() => error);
  const ask = (count = 1, whole = true) => {
    asked += count;
    const bytes = request.repeat(count);
    socket.write(whole ? bytes : bytes.slice(0, -2));
  };
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
    for (let answer = firstAnswer(text); answer; answer = firstAnswer(text)) {
      text = text.slice(answer.length);
      answers.push(answer);
      if (isBusy && !answer.closes) ask();
    }
  });
  await once(socket, "connect");
  return {
    get asked() {
      return asked;
    },
    answers,
    ended,
    ask,
    finish: () => void socket.write("\r\n"),
    keepAsking() {
      isBusy = true;
      ask();
    },
    destroy: () => socket.destroy(),
  };
}

function firstAnswer(text: string): (RawAnswer & { readonly length: number }) | undefined {
  const end = text.indexOf("\r\n\r\n") + 4;
  if (end < 4) return undefined;
  const head = text.slice(0, end);
  const length = end + Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
  if (text.length < length) return undefined;
  return { status: Number(head.slice(9, 12)), closes: /^connection: close/im.test(head), length };
}
