const EVERY_MS = 1_000;

/** Says how far a command is: first after a second, then at most once a second. */
export function createProgress(
  say: (line: string) => void,
  now: () => number = () => performance.now(),
): (line: () => string) => void {
  let due = now() + EVERY_MS;
  return (line) => {
    if (now() < due) return;
    due = now() + EVERY_MS;
    say(line());
  };
}
