// Sends one kind of request as fast as it is answered, in a process of its own, and prints what came of it as JSON.
import { createSender, type Wanted } from "./sender.ts";

export interface LoadPlan {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  /** Each connection goes through these in turn; `[<id>]` in a body becomes another id every time. */
  readonly requests: readonly Wanted[];
}

export interface LoadResult {
  readonly perSecond: number;
  readonly answers: number;
  /** Answers that were not 2xx, and requests without one. */
  readonly failed: number;
}

/** Node works out its fast code while a server is busy, for some seconds: it is what comes after them that is measured. */
const WARM_MS = 4_000;

const { url, connections, seconds, requests } = JSON.parse(process.argv[2] ?? "{}") as LoadPlan;
const sender = await createSender(url, connections, requests);
const until = (ms: number) => {
  const end = performance.now() + ms;
  return sender.send(() => performance.now() < end);
};
await until(WARM_MS);
const start = performance.now();
const { answers, failed } = await until(seconds * 1_000);
const result: LoadResult = { perSecond: (answers * 1_000) / (performance.now() - start), answers, failed };
sender.close();
process.stdout.write(JSON.stringify(result));
