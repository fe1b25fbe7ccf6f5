import type { News } from "./news.ts";

/** As long as a rest may be (ms), whatever was before it: nobody waits longer for what was committed. */
const MOST_REST_MS = 50;

/**
 * Tells news at once, and rests after it as long as the telling took; what comes meanwhile is told together, as one. So
 * telling takes half of the process's time at most, however many listen: a write to each socket costs the same for
 * one entry and for ten. `clock`: monotonic, in milliseconds.
 */
export function createPace(tell: (news: News) => void, clock: () => number = () => performance.now()) {
  let waiting: News[] = [];
  let resting = false;

  function tellNow(news: News): void {
    const begun = clock();
    tell(news);
    const tookMs = clock() - begun;
    // A timer knows no less than this.
    if (tookMs < 1) return;
    resting = true;
    setTimeout(goOn, Math.min(tookMs, MOST_REST_MS)).unref();
  }

  function goOn(): void {
    resting = false;
    const all = waiting;
    waiting = [];
    if (all.length > 0) tellNow(together(all));
  }

  return (news: News): void => {
    if (resting) waiting.push(news);
    else tellNow(news);
  };
}

/** News that follow each other, without a gap, as one. */
const together = (all: readonly News[]): News =>
  all.length === 1
    ? (all[0] as News)
    : { from: (all[0] as News).from, to: (all.at(-1) as News).to, lines: all.flatMap(({ lines }) => lines) };
