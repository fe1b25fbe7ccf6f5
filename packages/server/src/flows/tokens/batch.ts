/** A key that waits for its answer, with everyone who asked for it. */
interface Asked<V> {
  readonly answer: Promise<V | undefined>;
  resolve(value: V | undefined): void;
  reject(error: unknown): void;
}

/**
 * Answers single questions with few statements. A question waits while a statement is on its way, and goes with the next
 * one; equal questions share an answer. Every answer is read after its question was asked.
 */
export function createBatch<K, V>(
  load: (keys: readonly K[]) => Promise<ReadonlyMap<K, V>>,
  { most = 500, atOnce = 1 }: { readonly most?: number; readonly atOnce?: number } = {},
): (key: K) => Promise<V | undefined> {
  const waiting = new Map<K, Asked<V>>();
  let running = 0;

  async function run(): Promise<void> {
    running += 1;
    // Questions of the same tick go together.
    await undefined;
    while (waiting.size > 0) {
      const asked = [...waiting].slice(0, most);
      for (const [key] of asked) waiting.delete(key);
      try {
        const answers = await load(asked.map(([key]) => key));
        for (const [key, { resolve }] of asked) resolve(answers.get(key));
      } catch (error) {
        for (const [, { reject }] of asked) reject(error);
      }
    }
    running -= 1;
  }

  return (key) => {
    const known = waiting.get(key);
    if (known) return known.answer;
    const asked = promised<V | undefined>();
    waiting.set(key, asked);
    if (running < atOnce) void run();
    return asked.answer;
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
