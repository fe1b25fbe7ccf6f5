import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { temporaryFolder } from "../../scripts/testing/temporary-folder.ts";
import { startPeople } from "../clients/people.ts";
import { agentProgram } from "./agent.ts";
import { openBadGate } from "./bad-gate.ts";

const people = await startPeople();
const folder = temporaryFolder("agents");
const program = await agentProgram();
const gate = await openBadGate(people.url);
afterAll(() => {
  gate.close();
  program.remove();
});

test("[D20] an agent that is killed while the server is out of reach sends its queued writes after a restart, each once and in order", async () => {
  await people.request("POST", "/v1/models/slide", { id: "r0", data: { deckId: "d1", order: -1 } });
  const token = await people.agentToken("writer");
  const file = join(folder, "agent.db");
  const orders = { url: gate.url, token: token, file, records: ["r0"], shallFinish: false };
  // The first process has to read the rows once. The server gets some writes of the second one, but its responses are lost.
  const first = program.start({ ...orders, round: 0 });
  await first.reported("queued");
  first.child.kill("SIGKILL");
  await first.ended;
  gate.turn("deaf");
  const second = program.start({ ...orders, round: 1 });
  await second.reported("queued");
  second.child.kill("SIGKILL");
  await second.ended;

  gate.turn("up");
  const last = program.start({ ...orders, round: 2, shallFinish: true });
  const finished = await last.reported("finished");
  expect(finished).toMatchObject({ pending: 0, conflicts: 0, attention: 0 });
  await last.ended;
  expect(last.child.exitCode).toBe(0);
  const [ready] = last.reports;
  expect(ready?.is === "ready" && ready.pending).toBeGreaterThan(0);

  const { data } = await people.request("GET", "/v1/log?after=0&limit=1000");
  const log = (data as { clientTxId: string; data: { order: number } }[]).slice(1);
  const queued = [first, second].flatMap(({ reports }) => reports.filter((report) => report.is === "queued"));
  expect(log.map(({ clientTxId }) => clientTxId)).toEqual(
    expect.arrayContaining(queued.map(({ clientTxId }) => clientTxId)),
  );
  expect(new Set(log.map(({ clientTxId }) => clientTxId)).size).toBe(log.length);
  const written = log.map((entry) => entry.data.order);
  expect(written).toEqual([...written].sort((a, b) => a - b));
  expect(finished).toMatchObject({ rows: { r0: written.at(-1) } });
});
