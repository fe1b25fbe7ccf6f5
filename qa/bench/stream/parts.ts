import { summarize } from "../report/statistics.ts";
import { type Row, round } from "../report/table.ts";
import { type Options, openStage } from "../stage/stage.ts";
import { CONNECTIONS, rateOf } from "../tenants/commit-rates.ts";
import { memoryOf, openIdle } from "../tenants/idle-streams.ts";
import { mintTokens } from "../tenants/mint-tokens.ts";

const SOCKETS = 10_000;
const PARTS = 20;
const PEOPLE = 100;
const SETTLE_MS = 5_000;

/**
 * Sockets of one tenant, each of which follows parts of a model that no other one follows. All commits are of records
 * that none of them follows: what a part of a data set costs those who look at others.
 */
export async function measureParts({ rounds, seconds, print }: Options): Promise<Row[]> {
  await using stage = await openStage();
  const server = await stage.server({ database: "parts" });
  const pid = server.child.pid as number;
  const people = await mintTokens(server, server.tokens[0] as string, PEOPLE);
  const rate = () => rateOf([server.url], server.tokens, seconds);
  const found: Record<"share" | "kilobytes", number[]> = { share: [], kilobytes: [] };
  for (let n = 0; n < rounds; n++) {
    const without = await rate();
    const before = memoryOf(pid);
    const sockets = await openIdle([{ url: server.url, tokens: people, sockets: SOCKETS, decks: PARTS }]);
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    found.kilobytes.push((memoryOf(pid) - before) / SOCKETS);
    const beside = await rate();
    await sockets.close();
    found.share.push(beside / without);
    print(`round ${n + 1} of ${rounds}: without ${round(without)}/s, with ${round(beside)}/s`);
  }
  const sockets = `${SOCKETS.toLocaleString("en-US")} sockets on one process, each following ${PARTS} parts of its own`;
  return [
    {
      ...{ what: `commits/s beside ${sockets}, of the rate without, ${CONNECTIONS} connections`, unit: "" },
      ...{ runs: summarize(found.share), note: "target 0.9" },
    },
    // The first round takes the memory from the system; later ones use it again.
    { what: `${sockets}: memory each`, unit: "kB", runs: summarize(found.kilobytes.slice(0, 1)), note: "target 40" },
  ];
}
