import { summarize } from "../report/statistics.ts";
import type { Row } from "../report/table.ts";
import { openStage } from "../stage/stage.ts";
import { connect } from "./client.ts";

const QUEUED = 10_000;

/** A long time offline: ten thousand writes wait, and go out when the line is back, until the log has settled them all. */
export async function measureFlush({ rounds, print }: { rounds: number; print(line: string): void }): Promise<Row[]> {
  await using stage = await openStage();
  const server = await stage.server();
  const found: number[] = [];
  // The first one is not counted: it warms up the server, and the client's code.
  for (let n = 0; n <= rounds; n++) {
    const client = await connect(server);
    client.pause();
    for (let i = 0; i < QUEUED; i++)
      client.models.slide.create({ deckId: "deck-1", title: `Slide ${i}`, order: i, notes: "n".repeat(200) });
    const start = performance.now();
    client.resume();
    await client.drain({ timeoutMs: 60_000 });
    const perSecond = (QUEUED * 1_000) / (performance.now() - start);
    if (client.attention().length + client.conflicts().length > 0) throw new Error("A write was refused.");
    await client.close();
    if (n === 0) continue;
    found.push(perSecond);
    print(`round ${n} of ${rounds}: ${Math.round(perSecond)} writes/s`);
  }
  return [
    {
      what: `SDK: ${QUEUED.toLocaleString("en-US")} queued writes, from going online to settled`,
      unit: "/s",
      runs: summarize(found),
      note: "target 5 000/s",
    },
  ];
}
