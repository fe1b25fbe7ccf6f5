/**
 * Calls when the time is over, and what is called off in time is not called: also if the process was held up and what came
 * in time is still unread. Node looks at its clocks before it reads what has come, so the reading gets one more turn.
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
