import { rssMegabytes } from "../commits/memory.ts";
import { summarize } from "../report/statistics.ts";
import type { Row } from "../report/table.ts";
import { type Options, runLoad, type Stage } from "../stage/stage.ts";
import { ENDPOINTS, register, startReceiver } from "./webhook-stage.ts";

/** Each run is about 40,000 commits, told to all endpoints. */
const RUNS = 12;
const SECONDS = 10;
/** The cache of the log's pages, of 32 MiB, and the heap's young generation fill in these. */
const WARM_UP = 3;

const body = JSON.stringify({
  id: "w[<id>]",
  idempotencyKey: "w[<id>]",
  data: { deckId: "deck-1", title: "A slide", order: 3, notes: "n".repeat(850) },
});

/** The server's memory while everything that is committed is told to twenty endpoints, for long. */
export async function measureWebhookMemory(stage: Stage, { print }: Options): Promise<Row[]> {
  await using receiver = await startReceiver({ answerMs: 0, hanging: "" });
  const server = await stage.server({ database: "long" });
  for (let i = 0; i < ENDPOINTS; i++) await register(server, `${receiver.url}/long-${i}`);
  const samples: { run: number; rss: number }[] = [];
  let commits = 0;
  let run = 0;
  const timer = setInterval(() => samples.push({ run, rss: rssMegabytes(server.child.pid as number) }), 250);
  try {
    for (; run < RUNS; run++) {
      const { answers } = await runLoad({
        url: server.url,
        connections: 64,
        seconds: SECONDS,
        requests: [{ path: "/v1/models/slide", token: server.tokens[0] as string, body }],
      });
      commits += answers;
      const { median } = summarize(samples.filter((sample) => sample.run === run).map(({ rss }) => rss));
      print(`run ${run + 1} of ${RUNS}: ${commits.toLocaleString("en-US")} commits, ${median.toFixed(0)} MB`);
    }
  } finally {
    clearInterval(timer);
  }
  const middle = WARM_UP + Math.floor((RUNS - WARM_UP) / 2);
  const between = (from: number, to: number) =>
    summarize(samples.filter((sample) => sample.run >= from && sample.run < to).map(({ rss }) => rss));
  const [first, second] = [between(WARM_UP, middle), between(middle, RUNS)];
  const events = (commits * ENDPOINTS).toLocaleString("en-US");
  return [
    {
      what: `server's memory, ${ENDPOINTS} endpoints, ${events} events, first half after ${WARM_UP} runs of ${RUNS}`,
      unit: "MB",
      runs: first,
    },
    {
      what: "the same, second half",
      unit: "MB",
      runs: second,
      against: `${(second.median / first.median).toFixed(2)} of the first half`,
    },
  ];
}
