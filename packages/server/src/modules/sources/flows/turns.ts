/**
 * Runs work once all earlier work with one of its keys has ended. Of its `names`, which are keys too, no two different
 * works have one: what repeats earlier work waits for that alone, and any number of repetitions then run at once.
 */
export type InTurn<T> = (keys: readonly string[], work: () => Promise<T>, names?: readonly string[]) => Promise<T>;

/** What waited longer than `patienceMs` is not run: it resolves with `late`. */
export function turns<T>(patienceMs: number, late: T): InTurn<T> {
  /** By key: the newest work that has it or waits for it. */
  const newest = new Map<string, Promise<unknown>>();
  return (keys, work, names = []) => {
    const [first] = names.flatMap((name) => newest.get(name) ?? []);
    if (first) return first.then(work, work);
    const since = performance.now();
    const turn = Promise.allSettled(keys.map((key) => newest.get(key))).then((): Promise<T> | T =>
      performance.now() - since > patienceMs ? late : work(),
    );
    for (const key of keys) newest.set(key, turn);
    const end = () => {
      for (const key of keys) if (newest.get(key) === turn) newest.delete(key);
    };
    turn.then(end, end);
    return turn;
  };
}
