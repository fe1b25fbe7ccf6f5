// Some claimants in a process of their own, to be killed, stopped and started again. Its plan lies in a file.
import { readFileSync } from "node:fs";
import { SeededRandom } from "../support/seeded-random.ts";
import { claim, reorder, type Stage } from "./claimant.ts";
import { openRecorder } from "./history.ts";
import { listen } from "./listener.ts";
import type { Plan } from "./plan.ts";
import { createRecordingClient } from "./recording-client.ts";

const PROGRESS_MS = 200;

const plan = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as Plan;
const recorder = openRecorder(plan.folder, plan.name);
const chance = new SeededRandom(plan.seed);
const { request, count } = createRecordingClient(plan, recorder, new SeededRandom(plan.seed + 1));
let over = false;
const finish = () => {
  over = true;
};
process.on("message", finish);
// The parent process has ended.
process.on("disconnect", () => process.exit(1));
const progress = setInterval(() => process.send?.(count()), PROGRESS_MS);

const loops = plan.claimants.map(async (claimant, i) => {
  const listener = claimant.stream
    ? listen(plan.urls, claimant, i === 0 ? plan.records[0] : undefined, recorder)
    : undefined;
  const stage: Stage = {
    plan,
    request,
    chance: new SeededRandom(Math.floor(chance.roll() * 2 ** 32)),
    listener,
    isOver: () => over,
  };
  await claim(claimant, stage);
  listener?.close();
});
loops.push(
  reorder({ plan, request, chance: new SeededRandom(plan.seed + 2), listener: undefined, isOver: () => over }),
);
await Promise.all(loops);
clearInterval(progress);
process.send?.(count());
recorder.close();
process.exit(0);
