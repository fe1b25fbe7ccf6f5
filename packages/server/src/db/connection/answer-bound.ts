/** The word in a connection string of a tenant's own database. The driver passes over it. */
const WORD = "bounded=1";

/** `url` has parameters. A database that its owner runs may send anything: what it sends is bounded. */
export const boundedUrl = (url: string): string => `${url}&${WORD}`;

export const isBounded = (url: string | undefined): boolean => url?.split("&").includes(WORD) === true;

const MiB = 1024 * 1024;
/** A row, say: a record may have a few MiB. */
export const MESSAGE_BYTES = 64 * MiB;
/** A page has 4 MiB, a batch of a move 50 rows. */
export const ANSWER_BYTES = 256 * MiB;
/** The least that a message of an answer counts: a row without columns is an object too. */
const LEAST_BYTES = 512;

const HEADER = 5;
const READY = "Z".charCodeAt(0);
/** It belongs to no answer: a connection that listens gets nothing else, for as long as it is open. */
const NOTIFICATION = "A".charCodeAt(0);

/**
 * Counts what a database sends: the driver keeps a message until it is complete, and the rows of an answer until that
 * is. Each message has a byte for its kind, and four for its length, which they are part of.
 */
export class AnswerBound {
  /** Of the current message, how much is still to come. */
  #left = 0;
  /** The header, as far as it has come. */
  readonly #header = Buffer.alloc(HEADER);
  #known = 0;
  #answer = 0;

  /** Returns what was too much. */
  take(chunk: Buffer): Error | undefined {
    for (let at = 0; at < chunk.length; ) {
      if (this.#left > 0) {
        const passed = Math.min(this.#left, chunk.length - at);
        this.#left -= passed;
        at += passed;
        if (this.#header[0] !== NOTIFICATION) this.#answer += passed;
        continue;
      }
      const copied = chunk.copy(this.#header, this.#known, at, at + HEADER - this.#known);
      this.#known += copied;
      at += copied;
      if (this.#known < HEADER) break;
      this.#known = 0;
      const length = this.#header.readUInt32BE(1);
      if (length > MESSAGE_BYTES) return tooMuch(MESSAGE_BYTES, "one message");
      this.#left = Math.max(0, length - (HEADER - 1));
      if (this.#header[0] !== NOTIFICATION) this.#answer += LEAST_BYTES;
      if (this.#header[0] === READY) this.#answer = 0;
    }
    return this.#answer > ANSWER_BYTES ? tooMuch(ANSWER_BYTES, "one answer") : undefined;
  }
}

const tooMuch = (bytes: number, where: string) =>
  new Error(`The database sent more than ${bytes / MiB} MiB in ${where}.`);
