/**
 * Calls `over` after a timeout, unless canceled. Node runs due timers before it reads sockets. If the process was
 * blocked, a frame that arrived in time may still be unread when the timer fires, so the deadline waits for one more
 * read phase.
 */
export function startDeadline(ms: number, over: () => void): () => void {
  let unread: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    unread = setImmediate(over);
  }, ms);
  return () => {
    clearTimeout(timer);
    clearImmediate(unread);
  };
}
