import { askJson } from "../../../scripts/testing/ask-json.ts";
import { percentile, type Runs, summarize } from "../report/statistics.ts";
import { type Row, round } from "../report/table.ts";
import { creates } from "../stage/creates.ts";
import { type Options, openStage, runLoad } from "../stage/stage.ts";

const OPEN = 10_000;
const CONNECTIONS = 64;
const DECISIONS = 200;
const COMMITS = 500;
const RECORDS = 300;
const AT_ONCE = 100;

/** What open proposals cost the commits beside them, how fast one is accepted, and how fast a run is taken back. */
export async function measureChanges({ rounds, seconds, print }: Options): Promise<Row[]> {
  await using stage = await openStage();
  const free = await stage.server({ database: "unasked" });
  const full = await stage.server({ database: "asked" });
  const token = full.tokens[0] as string;
  const post = (path: string, body: unknown) => askJson(full.url + path, token, "POST", body);
  print(`${OPEN.toLocaleString("en-US")} proposals are made`);
  const records = await madeRecords(post, "asked", DECISIONS * (rounds + 1));
  await inBulks(OPEN, (n) => ({
    ...{ clientTxId: `open-${n}`, propose: { branch: `b${n % 1_000}` } },
    operations: [updateOf(records[n % records.length] as string, { title: `Asked ${n}` })],
  }))(post);
  const commits = async (server: typeof free) =>
    (await runLoad({ ...creates(server), connections: CONNECTIONS, seconds })).perSecond;
  const found = {
    ...{ free: [] as number[], full: [] as number[], commit: [] as number[] },
    ...{ accept: [] as number[], revert: [] as number[] },
  };
  for (const server of [free, full]) await commits(server);
  for (let n = 0; n < rounds; n++) {
    const both = [
      [found.free, free],
      [found.full, full],
    ] as const;
    for (const [rates, server] of n % 2 === 0 ? both : both.toReversed()) rates.push(await commits(server));
    const { commit, accept } = await decisions(full.url, token, n);
    found.commit.push(commit);
    found.accept.push(accept);
    found.revert.push(await reverted(post, n));
    const last = Object.entries(found).map(([name, values]) => `${name} ${values.at(-1)?.toFixed(2)}`);
    print(`round ${n + 1} of ${rounds}: ${last.join(", ")}`);
  }
  const runs = Object.fromEntries(Object.entries(found).map(([name, values]) => [name, summarize(values)])) as Record<
    keyof typeof found,
    Runs
  >;
  const many = OPEN.toLocaleString("en-US");
  return [
    { what: `commits, no proposals, ${CONNECTIONS} connections`, unit: "/s", runs: runs.free },
    {
      what: `commits beside ${many} open proposals in 1,000 branches`,
      unit: "/s",
      runs: runs.full,
      against: `**${round(runs.full.median / runs.free.median)}** of none`,
      note: "target 0.98",
    },
    { what: "a commit of one operation, alone, p50", unit: "ms", runs: runs.commit },
    {
      what: "a proposal accepted, alone, p50",
      unit: "ms",
      runs: runs.accept,
      against: `**${round(runs.accept.median / runs.commit.median)}** of a commit`,
      note: "target 1.2",
    },
    {
      what: `a run of ${COMMITS} commits on ${RECORDS} records taken back`,
      unit: "ms",
      runs: runs.revert,
      note: "target 2 000 ms",
    },
  ];
}

type Post = (path: string, body: unknown) => Promise<Readonly<Record<string, unknown>>>;

const updateOf = (id: string, data: object) => ({ action: "update", model: "slide", id, data });

/** So many commits, in bulks. */
const inBulks =
  (count: number, commitOf: (n: number) => object) =>
  async (post: Post): Promise<void> => {
    for (let from = 0; from < count; from += AT_ONCE)
      await post("/v1/commits/bulk", {
        commits: Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, i) => commitOf(from + i)),
      });
  };

async function madeRecords(post: Post, name: string, count: number): Promise<readonly string[]> {
  const ids = Array.from({ length: count }, (_, n) => `${name}-${n}`);
  await inBulks(count, (n) => ({
    clientTxId: `made-${name}-${n}`,
    operations: [{ action: "create", model: "slide", id: ids[n], data: { title: "One" } }],
  }))(post);
  return ids;
}

/** One after the other, in turns: a commit, and a proposal of an agent that is accepted. */
async function decisions(url: string, token: string, run: number): Promise<{ commit: number; accept: number }> {
  const post = (path: string, body: unknown, by = token) => askJson(url + path, by, "POST", body);
  const agent = await post("/v1/capabilities", { wideScope: true, operations: ["slide.propose"] });
  const ids = await madeRecords(post, `decided-${run}`, DECISIONS);
  const taken = { commit: [] as number[], accept: [] as number[] };
  const timed = async (times: number[], work: () => Promise<unknown>) => {
    const begun = performance.now();
    await work();
    times.push(performance.now() - begun);
  };
  for (const [n, id] of ids.entries()) {
    const asked = await post("/v1/commits", { operations: [updateOf(id, { title: "Two" })] }, String(agent.token));
    await timed(taken.accept, () => post(`/v1/proposals/${asked.proposal}/accept`, {}));
    await timed(taken.commit, () => post("/v1/commits", { operations: [updateOf(id, { title: `Three ${n}` })] }));
  }
  const p50 = (times: number[]) =>
    percentile(
      times.sort((a, b) => a - b),
      0.5,
    );
  return { commit: p50(taken.commit), accept: p50(taken.accept) };
}

async function reverted(post: Post, run: number): Promise<number> {
  const ids = await madeRecords(post, `run-${run}`, RECORDS);
  const name = `bench-${run}`;
  await inBulks(COMMITS, (n) => ({
    ...{ clientTxId: `${name}-${n}`, run: name },
    operations: [updateOf(ids[n % RECORDS] as string, { title: `Changed ${n}` })],
  }))(post);
  const begun = performance.now();
  const { reverted: count } = await post("/v1/revert", { run: name });
  if (count !== RECORDS) throw new Error(`${count} records were taken back, of ${RECORDS}.`);
  return performance.now() - begun;
}
