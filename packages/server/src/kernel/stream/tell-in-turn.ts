/** Those that may have to be told how far their log has gone. Says whether it had to be said. */
export type Tellable = () => boolean;

const TICK_MS = 100;
/** How long a log may have gone on before its readers are told, in ticks. */
const WAIT_TICKS = 10;
/** One reader costs about 10 µs, so telling takes at most a hundredth of the time. */
const MOST_PER_TICK = 100;

/**
 * Tells the readers of logs that have gone on without them, a second later: all at once if they are few, and otherwise
 * in turn, so many a second, whatever the number of readers and logs.
 */
export function createTellInTurn<Topic extends object>(readersOf: (topic: Topic) => Iterable<Tellable>) {
  /** When it is each log's turn at the earliest. */
  const waiting = new Map<Topic, number>();
  let current: Iterator<Tellable> | undefined;
  let tick = 0;
  let timer: NodeJS.Timeout | undefined;

  function next(): Tellable | undefined {
    for (;;) {
      const turn = current?.next();
      if (turn && !turn.done) return turn.value;
      current = undefined;
      const [first] = waiting;
      if (!first || first[1] > tick) return undefined;
      waiting.delete(first[0]);
      current = readersOf(first[0])[Symbol.iterator]();
    }
  }

  function tellSome(): void {
    tick += 1;
    for (let told = 0; told < MOST_PER_TICK; ) {
      const tell = next();
      if (!tell) break;
      if (tell()) told += 1;
    }
    if (current || waiting.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    /** A log has gone on. */
    wentOn(topic: Topic): void {
      if (waiting.has(topic)) return;
      waiting.set(topic, tick + WAIT_TICKS);
      timer ??= setInterval(tellSome, TICK_MS).unref();
    },
    /** A log has no readers any more. */
    forget(topic: Topic): void {
      waiting.delete(topic);
    },
  };
}
