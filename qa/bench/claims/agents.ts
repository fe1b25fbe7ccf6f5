import { setTimeout as pause } from "node:timers/promises";
import { createClient, isSyncError, type SyncClient } from "@holdfast/sdk/node";
import { schema } from "../../../packages/create-holdfast/templates/node-agent/src/schema.ts";
import { work } from "../../../packages/create-holdfast/templates/node-agent/src/work.ts";
import { askJson } from "../../../scripts/testing/ask-json.ts";
import { summarize } from "../report/statistics.ts";
import type { Row } from "../report/table.ts";
import { openStage } from "../stage/stage.ts";

const AGENTS = 30;
/** Many for each agent, and few: at the end of a list there is less to choose from. */
const LISTS = [300, 60];
const THINKING_MS = 300;
/** All of it takes a few seconds; an agent that was refused rests for five. */
const LONGEST_MS = 120_000;

type Client = SyncClient<typeof schema>;

/** How often agents of the example are refused a claim, when thirty of them work through one list of tasks. */
export async function measureAgents({ rounds, print }: { rounds: number; print(line: string): void }): Promise<Row[]> {
  await using stage = await openStage();
  const server = await stage.server({ database: "agents" });
  const secretKey = server.tokens[0] as string;
  const post = (path: string, body: unknown) => askJson(server.url + path, secretKey, "POST", body);
  const clients = await Promise.all(
    Array.from({ length: AGENTS }, async (_, n) => {
      const minted = await post("/v1/capabilities", { wideScope: true, participantId: `agent-${n}` });
      const client = createClient({ schema, url: server.url, getToken: () => String(minted.token) });
      await client.ready();
      return client;
    }),
  );
  const rows: Row[] = [];
  for (const tasks of LISTS) {
    const refused: number[] = [];
    const seconds: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const ids = Array.from({ length: tasks }, (_, n) => `task-${tasks}-${round}-${n}`);
      const run = await shareTasks(clients, ids, post);
      refused.push(run.refused / tasks);
      seconds.push(run.seconds);
      print(`round ${round + 1}: ${run.refused} claims refused for ${tasks} tasks, ${run.seconds.toFixed(1)} s`);
    }
    rows.push({
      what: `claims refused for each of ${tasks} tasks that ${AGENTS} agents share`,
      unit: "",
      runs: summarize(refused),
      note: "target 1",
    });
    rows.push({
      what: `until all ${tasks} are done, of ${THINKING_MS} ms each`,
      unit: "s",
      runs: summarize(seconds),
      note: `${((tasks * THINKING_MS) / AGENTS / 1_000).toFixed(1)} s if no agent ever waited`,
    });
  }
  await Promise.all(clients.map((client) => client.close()));
  return rows;
}

/** The tasks are there at once, and all agents begin at once. */
async function shareTasks(
  clients: readonly Client[],
  ids: readonly string[],
  post: (path: string, body: unknown) => Promise<unknown>,
): Promise<{ refused: number; seconds: number }> {
  const commits = ids.map((id) => ({
    clientTxId: id,
    operations: [{ action: "create", model: "slide", id, data: { title: id } }],
  }));
  for (let from = 0; from < commits.length; from += 100)
    await post("/v1/commits/bulk", { commits: commits.slice(from, from + 100) });
  const isThere = (client: Client) => ids.every((id) => client.models.slide.get(id) !== undefined);
  await until(() => clients.every(isThere));
  let refused = 0;
  const stops = clients.map(() => new AbortController());
  const began = performance.now();
  const working = clients.map((client, n) =>
    work(
      counted(client, () => (refused += 1)),
      {
        think: async ({ title }, signal) => {
          await pause(THINKING_MS, undefined, { signal });
          return `On ${title}`;
        },
        stop: (stops[n] as AbortController).signal,
        say: () => {},
      },
    ),
  );
  const [first] = clients;
  await until(() => first !== undefined && ids.every((id) => first.models.slide.get(id)?.notes));
  const seconds = (performance.now() - began) / 1_000;
  for (const stop of stops) stop.abort();
  await Promise.all(working);
  return { refused, seconds };
}

/** The same client; refused claims are counted. */
function counted(client: Client, refused: () => void): Client {
  const { slide } = client.models;
  const claim: typeof slide.claim = (id, options) =>
    slide.claim(id, options).catch((error: unknown) => {
      if (isSyncError(error) && error.code === "claim_conflict") refused();
      throw error;
    });
  return { ...client, models: { ...client.models, slide: { ...slide, claim } } };
}

async function until(isSo: () => boolean): Promise<void> {
  for (const end = performance.now() + LONGEST_MS; !isSo(); await pause(20))
    if (performance.now() > end) throw new Error(`It was not so after ${LONGEST_MS} ms.`);
}
