/** The word in a connection string of a tenant's own database. The driver passes over it. */
const WORD = "bounded=1";

/** `url` has parameters. A database that its owner runs may never end an answer: the time is bounded too. */
export const boundedUrl = (url: string): string => `${url}&${WORD}`;

export const isBounded = (url: string | undefined): boolean => url?.split("&").includes(WORD) === true;

const MiB = 1024 * 1024;
/** A row, say: records with more than 16 MiB of JSON are not read. */
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
 * is. One text of more than 512 MiB would end the process. Each message has a byte for its kind, and four for its length, which they are part of.
 */
export class AnswerBound {
  /** Of the current message, how much is still to come. */
  #left = 0;
  #kind = 0;
  /** A header that is cut, as far as it has come. */
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
        if (this.#kind !== NOTIFICATION) this.#answer += passed;
        continue;
      }
      let kind = chunk[at] as number;
      let length: number;
      // Nearly always: an answer of many rows has as many headers, and a copy of each would take longer than all else.
      if (this.#known === 0 && at + HEADER <= chunk.length) {
        length = lengthAt(chunk, at);
        at += HEADER;
      } else {
        const copied = chunk.copy(this.#header, this.#known, at, at + HEADER - this.#known);
        this.#known += copied;
        at += copied;
        if (this.#known < HEADER) break;
        this.#known = 0;
        kind = this.#header[0] as number;
        length = lengthAt(this.#header, 0);
      }
      if (length > MESSAGE_BYTES) return tooMuch(MESSAGE_BYTES, "one message");
      this.#kind = kind;
      this.#left = Math.max(0, length - (HEADER - 1));
      if (kind !== NOTIFICATION) this.#answer += LEAST_BYTES;
      if (kind === READY) this.#answer = 0;
    }
    return this.#answer > ANSWER_BYTES ? tooMuch(ANSWER_BYTES, "one answer") : undefined;
  }
}

/** The length behind the byte for the kind, without a sign. */
const lengthAt = (bytes: Buffer, at: number): number =>
  (((bytes[at + 1] as number) << 24) |
    ((bytes[at + 2] as number) << 16) |
    ((bytes[at + 3] as number) << 8) |
    (bytes[at + 4] as number)) >>>
  0;

const tooMuch = (bytes: number, where: string) =>
  new Error(`The database sent more than ${bytes / MiB} MiB in ${where}.`);
