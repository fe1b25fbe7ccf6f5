import type { News } from "./news.ts";

/** The longest pause (ms). It bounds how long committed entries wait. */
const MOST_REST_MS = 50;

/**
 * Delivers news at once, then pauses for as long as the delivery took. News that arrive during the pause are merged and
 * delivered together. So delivery takes at most half of the process's time, however many sockets listen: a write to
 * each socket costs the same for one entry and for ten. `clock`: monotonic, in milliseconds.
 */
export function createPace(publish: (news: News) => void, clock: () => number = () => performance.now()) {
  let waiting: News[] = [];
  let resting = false;

  function publishNow(news: News): void {
    const begun = clock();
    publish(news);
    const tookMs = clock() - begun;
    // A timer cannot pause for less than this.
    if (tookMs < 1) return;
    resting = true;
    setTimeout(goOn, Math.min(tookMs, MOST_REST_MS)).unref();
  }

  function goOn(): void {
    resting = false;
    const all = waiting;
    waiting = [];
    if (all.length > 0) publishNow(together(all));
  }

  return (news: News): void => {
    if (resting) waiting.push(news);
    else publishNow(news);
  };
}

/**
 * Merges consecutive news without a gap. Entries of an earlier schema have the same names in a later one, or its push
 * ends the stream.
 */
const together = (all: readonly News[]): News =>
  all.length === 1
    ? (all[0] as News)
    : {
        from: (all[0] as News).from,
        to: (all.at(-1) as News).to,
        entries: all.flatMap(({ entries }) => entries),
        models: (all.at(-1) as News).models,
        schemaVersion: (all.at(-1) as News).schemaVersion,
        rowsVersion: (all.at(-1) as News).rowsVersion,
      };
