import { summarize } from "../report/statistics.ts";
import { type Row, round } from "../report/table.ts";
import { firstLine, startProgram } from "../stage/processes.ts";
import { createSender } from "../stage/sender.ts";
import type { ServerReady } from "../stage/server.ts";
import { openStage } from "../stage/stage.ts";
import { mintTokens } from "./mint-tokens.ts";
import type { ReturningPlan, ReturningResult } from "./returning-sockets.ts";
import { afterSeconds, commitSteadily } from "./steady-commits.ts";

const SOCKETS = 1_500;
const BEHIND = 2_000;
const QUIET_SECONDS = 6;

/** Sockets with tokens of their own that return at once, each behind by many entries, beside another tenant's commits. */
export async function measureHerd({ rounds, print }: { rounds: number; print(line: string): void }): Promise<Row[]> {
  await using stage = await openStage();
  const server = await stage.server({ organizations: 2 });
  const [key = "", victim = ""] = server.tokens;
  const tokens = await mintTokens(server, key, SOCKETS);
  await writeEntries(server, key);
  await commitSteadily(server, victim, afterSeconds(QUIET_SECONDS));
  const found: { seconds: number; p99: number; quiet: number; closed: number; failed: number }[] = [];
  for (let n = 0; n < rounds; n++) {
    const quiet = await commitSteadily(server, victim, afterSeconds(QUIET_SECONDS));
    const plan: ReturningPlan = { url: server.url, tokens, since: 0, until: BEHIND };
    // Too long for a word of a command.
    const herd = startProgram(new URL("returning-sockets.ts", import.meta.url));
    herd.stdin?.end(JSON.stringify(plan));
    let isOver = false;
    const result = firstLine<ReturningResult>(herd).finally(() => {
      isOver = true;
    });
    const beside = await commitSteadily(server, victim, () => isOver);
    const { seconds, closed } = await result;
    found.push({ seconds, p99: beside.p99, quiet: quiet.p99, closed, failed: beside.failed });
    print(
      `${SOCKETS} sockets caught up in ${round(seconds)} s, ${closed} closed; another tenant's p99 ${round(beside.p99)} ms, quiet ${round(quiet.p99)} ms, ${beside.failed} failed`,
    );
  }
  const runsOf = (of: (one: (typeof found)[number]) => number) => summarize(found.map(of));
  return [
    {
      what: `${SOCKETS} sockets with own tokens return, ${BEHIND} entries behind: until all have caught up`,
      unit: "s",
      runs: runsOf((one) => one.seconds),
      note: "target 15",
    },
    { what: "sockets that were closed meanwhile", unit: "", runs: runsOf((one) => one.closed), note: "target 0" },
    {
      what: "another tenant's commits meanwhile, p99",
      unit: "ms",
      runs: runsOf((one) => one.p99),
      note: "target 250",
    },
    { what: "the same, quiet", unit: "ms", runs: runsOf((one) => one.quiet) },
    { what: "of these, failed", unit: "", runs: runsOf((one) => one.failed), note: "target 0" },
  ];
}

async function writeEntries({ url }: ServerReady, token: string): Promise<void> {
  const commits = Array.from({ length: 100 }, (_, i) => ({
    clientTxId: `e[<id>]-${i}`,
    operations: [
      { action: "create", model: "slide", id: `e[<id>]-${i}`, data: { title: "A slide", notes: "n".repeat(200) } },
    ],
  }));
  const sender = await createSender(url, 1, [{ path: "/v1/commits/bulk", token, body: JSON.stringify({ commits }) }]);
  let left = BEHIND / 100;
  const { failed } = await sender.send(() => left-- > 0);
  sender.close();
  if (failed > 0) throw new Error(`${failed} bulks failed.`);
}
