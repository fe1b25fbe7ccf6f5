/** Runs functions one after the other, in the order of the calls. */
export function turns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<void> | undefined;
  return (work) => {
    const turn = last ? last.then(work) : work();
    const over = turn
      .then(() => {})
      .catch(() => {})
      .then(() => {
        if (last === over) last = undefined;
      });
    last = over;
    return turn;
  };
}
