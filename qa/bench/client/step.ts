import { percentile, summarize } from "../report/statistics.ts";
import type { Row } from "../report/table.ts";
import { openStage } from "../stage/stage.ts";
import { connect } from "./client.ts";

const ROWS = 10_000;
const PENDING = 1_000;
const MEASURED = 1_000;

/** From `update()` to the new state that a view reads, with many rows and many writes pending. */
export async function measureStep({ rounds, print }: { rounds: number; print(line: string): void }): Promise<Row[]> {
  await using stage = await openStage();
  const server = await stage.server();
  const seed = await connect(server);
  const ids = Array.from(
    { length: ROWS },
    (_, i) => seed.models.slide.create({ deckId: `deck-${i % 100}`, title: `Slide ${i}`, order: i }).id,
  );
  await seed.drain({ timeoutMs: 60_000 });
  await seed.close();
  const medians: number[] = [];
  const slow: number[] = [];
  for (let n = 0; n < rounds; n++) {
    const client = await connect(server);
    if (client.models.slide.list().length !== ROWS) throw new Error("The client does not hold every row.");
    client.pause();
    for (let i = 0; i < PENDING; i++) client.models.slide.update(ids[i * 7] as string, { notes: `pending ${n} ${i}` });
    const delays: number[] = [];
    for (let i = 0; i < MEASURED; i++) {
      const id = ids[(i * 13) % ROWS] as string;
      const title = `Round ${n}, ${i}`;
      const start = performance.now();
      client.models.slide.update(id, { title });
      const shown = client.models.slide.get(id)?.title;
      delays.push(performance.now() - start);
      if (shown !== title) throw new Error("The update is not shown.");
      // The queue's own work (storing, answering) happens between two updates, as it does between two keystrokes.
      if (i % 50 === 49) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    delays.sort((a, b) => a - b);
    medians.push(percentile(delays, 0.5));
    slow.push(percentile(delays, 0.99));
    await client.close();
    print(
      `round ${n + 1} of ${rounds}: update to new state ${medians.at(-1)?.toFixed(3)} ms, p99 ${slow.at(-1)?.toFixed(3)} ms`,
    );
  }
  const what = `SDK: update() to the new state, ${ROWS.toLocaleString("en-US")} rows, ${PENDING.toLocaleString("en-US")} and more pending`;
  return [
    { what: `${what}, p50`, unit: "ms", runs: summarize(medians), note: "target 1 ms" },
    { what: `${what}, p99`, unit: "ms", runs: summarize(slow) },
  ];
}
