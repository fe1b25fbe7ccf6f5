/**
 * Counts the bytes of answers in flight, of each token and of the process. An answer counts from the moment that its
 * bytes exist until they have left the process. So clients that read slowly, or not at all, count as long as they take:
 * without a bound, a few hundred unread pages would end the process for all tenants.
 *
 *   open ─► its shares take what they have made so far ─► send, all of it ─► close: it has left
 *
 * An answer has shares because the commits of one request can be judged at the same time.
 */
export interface AnswerBytes {
  /** Bytes in flight. */
  readonly bytes: number;
  readonly bounds: AnswerBounds;
  open(token: string): Answer;
}

export interface Answer {
  /** Whether its token may have any more bytes in flight. */
  hasRoom(): boolean;
  share(): Share;
  /** All of it exists now: it counts instead of its shares. Returns false, and counts nothing more, if it does not fit. */
  trySend(bytes: number): boolean;
  /** The same for what has to be sent: the outcome of a write. */
  send(bytes: number): void;
  close(): void;
}

export interface Share {
  /** Bytes that it may have beside all that is in flight, and how many the other shares of its answer have. */
  room(): { readonly inFlight: number; readonly others: number };
  /** It has so many bytes now. */
  take(bytes: number): void;
}

export interface AnswerBounds {
  readonly perToken: number;
  readonly total: number;
}

/** So much is sent even if other tokens have taken all the room: most receipts and records. */
const SMALL_BYTES = 16 * 1_024;

export function createAnswerBytes({ perToken, total }: AnswerBounds): AnswerBytes {
  // One token never takes the room of all others.
  const most = Math.min(perToken, total / 2);
  const bounds = { perToken: most, total };
  const byToken = new Map<string, number>();
  let inFlight = 0;

  function add(token: string, more: number): void {
    inFlight += more;
    const own = (byToken.get(token) ?? 0) + more;
    if (own === 0) byToken.delete(token);
    else byToken.set(token, own);
  }

  /** What may be in flight for a token beside all but `own` bytes. */
  function roomFor(token: string, own: number): number {
    const others = (byToken.get(token) ?? 0) - own;
    return Math.min(beside(others, most), Math.max(beside(inFlight - own, total), SMALL_BYTES));
  }

  return {
    get bytes() {
      return inFlight;
    },
    bounds,
    open(token) {
      let whole = 0;
      let phase: "making" | "sending" | "closed" = "making";
      const grow = (more: number) => {
        whole += more;
        if (more !== 0) add(token, more);
      };
      const send = (bytes: number) => {
        if (phase === "closed") return;
        phase = "sending";
        grow(bytes - whole);
      };
      return {
        hasRoom: () => (byToken.get(token) ?? 0) - whole < most,
        share() {
          let own = 0;
          return {
            room: () => ({ inFlight: roomFor(token, own), others: whole - own }),
            take(bytes) {
              if (phase !== "making") return;
              grow(bytes - own);
              own = bytes;
            },
          };
        },
        trySend(bytes) {
          const fits = bytes <= roomFor(token, whole);
          send(fits ? bytes : 0);
          return fits;
        },
        send,
        close() {
          send(0);
          phase = "closed";
        },
      };
    },
  };
}

/** An answer that is alone may have any size: no other has to wait for it. */
const beside = (others: number, most: number): number => (others === 0 ? Number.POSITIVE_INFINITY : most - others);
