import { readFileSync } from "node:fs";
import { askJson } from "../../../scripts/testing/ask-json.ts";
import { summarize } from "../report/statistics.ts";
import type { Row } from "../report/table.ts";
import { openStage, runLoad } from "../stage/stage.ts";

const COMMITS = 1_000_000;

/** The server's memory over a million commits: what the lane and the hub hold must not grow. */
export async function measureMemory({ print }: { print(line: string): void }): Promise<Row[]> {
  await using stage = await openStage();
  const server = await stage.server();
  const token = server.tokens[0] as string;
  const body = JSON.stringify({
    commits: Array.from({ length: 100 }, (_, i) => ({
      clientTxId: `m[<id>]-${i}`,
      operations: [{ action: "update", model: "slide", id: `m${i}`, data: { title: `[<id>]`, order: i } }],
    })),
  });
  await askJson(`${server.url}/v1/commits`, token, "POST", {
    operations: Array.from({ length: 100 }, (_, i) => ({
      ...{ action: "create", model: "slide", id: `m${i}`, data: { deckId: "deck-1" } },
    })),
  });
  const samples: { commits: number; rss: number }[] = [];
  for (let done = 0; done < COMMITS; ) {
    const { answers } = await runLoad({
      url: server.url,
      connections: 4,
      seconds: 6,
      requests: [{ path: "/v1/commits/bulk", token, body }],
    });
    done += answers * 100;
    samples.push({ commits: done, rss: rssMegabytes(server.child.pid as number) });
    print(`${done.toLocaleString("en-US")} commits: ${samples.at(-1)?.rss.toFixed(0)} MB`);
  }
  const half = Math.floor(samples.length / 2);
  const first = summarize(samples.slice(0, half).map(({ rss }) => rss));
  const second = summarize(samples.slice(half).map(({ rss }) => rss));
  return [
    { what: `server's memory, first half of ${COMMITS.toLocaleString("en-US")} commits`, unit: "MB", runs: first },
    {
      what: "the same, second half",
      unit: "MB",
      runs: second,
      against: `${(second.median / first.median).toFixed(2)} of the first half`,
    },
  ];
}

/** Resident memory of a process, as Linux tells it. */
export const rssMegabytes = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1_024;
