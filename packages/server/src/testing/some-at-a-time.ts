/** Does the work for each item, so many of them side by side: enough to race, not enough to be refused as too much. */
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
