/**
 * Resolves when all microtasks have run, as between two tasks of a browser. Promises continue in
 * the order in which they were resolved, so the same run stays the same run.
 */
export function drained(): Promise<void> {
  return new Promise(nextTask);
}

const { setImmediate } = globalThis as { setImmediate?: (then: () => void) => void };
const nextTask: (then: () => void) => void = setImmediate ?? overChannel();

/** Browsers have no `setImmediate`, and their `setTimeout` takes milliseconds. */
function overChannel(): (then: () => void) => void {
  const { port1, port2 } = new MessageChannel();
  const waiting: (() => void)[] = [];
  port1.onmessage = () => waiting.shift()?.();
  return (then) => {
    waiting.push(then);
    port2.postMessage(0);
  };
}
