/** Lets one in after the other, in the order in which they came; where nobody is in, at once. */
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
