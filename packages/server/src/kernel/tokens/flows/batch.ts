/** A key that is being loaded, shared by everyone who requested it. */
interface PendingLookup<V> {
  readonly answer: Promise<V | undefined>;
  resolve(value: V | undefined): void;
  reject(error: unknown): void;
}

/**
 * Combines single lookups into few statements. While a statement is running, further lookups wait and go together into
 * the next one; equal lookups share a result. Every result is read after its lookup was requested.
 */
export function createBatch<K, V>(
  load: (keys: readonly K[]) => Promise<ReadonlyMap<K, V>>,
  { most = 500, atOnce = 1 }: { readonly most?: number; readonly atOnce?: number } = {},
): (key: K) => Promise<V | undefined> {
  const waiting = new Map<K, PendingLookup<V>>();
  let running = 0;

  async function run(): Promise<void> {
    running += 1;
    // Collect the lookups of this tick.
    await undefined;
    while (waiting.size > 0) {
      const batch = [...waiting].slice(0, most);
      for (const [key] of batch) waiting.delete(key);
      try {
        const answers = await load(batch.map(([key]) => key));
        for (const [key, { resolve }] of batch) resolve(answers.get(key));
      } catch (error) {
        for (const [, { reject }] of batch) reject(error);
      }
    }
    running -= 1;
  }

  return (key) => {
    const known = waiting.get(key);
    if (known) return known.answer;
    const pending = promised<V | undefined>();
    waiting.set(key, pending);
    if (running < atOnce) void run();
    return pending.answer;
  };
}

function promised<V>() {
  let [resolve, reject]: [(value: V) => void, (error: unknown) => void] = [() => {}, () => {}];
  const answer = new Promise<V>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { answer, resolve, reject };
}
