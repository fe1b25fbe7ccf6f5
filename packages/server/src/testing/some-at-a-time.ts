/** Runs the work for each item with limited concurrency: enough to race, not enough to hit a rate limit. */
export async function someAtATime<T>(
  items: readonly T[],
  work: (item: T, index: number) => Promise<void>,
  most = 8,
): Promise<void> {
  const rest = items.entries();
  const worker = async () => {
    for (const [index, item] of rest) await work(item, index);
  };
  await Promise.all(Array.from({ length: most }, worker));
}
