import { once } from "node:events";
import { createInterface } from "node:readline";
import { startProgram } from "../stage/processes.ts";
import { createSender, type Sent } from "../stage/sender.ts";
import type { ListenPlan } from "./listeners.ts";

export interface SteadyPlan {
  readonly url: string;
  /** Of the writer, and of the sockets in turn. */
  readonly tokens: readonly string[];
  readonly sockets: number;
  readonly perSecond: number;
  /** At the same pace, and not counted: V8 is at work on all three for about as long. */
  readonly warmSeconds: number;
  readonly seconds: number;
}

const COUNTED = "Heard ";

/**
 * From sending a commit to hearing it on another client's socket, in milliseconds, for each commit and socket: sender,
 * server and listeners are three processes. `beside` gets what is counted to happen meanwhile.
 */
export async function heardDelays(plan: SteadyPlan, beside = (run: () => Promise<void>) => run()): Promise<number[]> {
  const { url, tokens, sockets, perSecond, seconds, warmSeconds } = plan;
  const child = startProgram(new URL("listeners.ts", import.meta.url), [
    JSON.stringify({ url, tokens, sockets, mark: COUNTED } satisfies ListenPlan),
  ]);
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]();
  await lines.next();
  await sendSteadily(plan, warmSeconds, "Warm ");
  await beside(() => sendSteadily(plan, seconds, COUNTED));
  child.kill("SIGTERM");
  const delays = JSON.parse((await lines.next()).value as string) as number[];
  const wanted = sockets * seconds * perSecond;
  if (delays.length !== wanted) throw new Error(`${sockets} sockets heard ${delays.length} of ${wanted} commits.`);
  if (child.exitCode === null) await once(child, "exit");
  return delays;
}

/** Commits at an even pace, whatever their answers take: a slow server gets no rest. `mark` stands before the time of sending. */
async function sendSteadily({ url, tokens, perSecond }: SteadyPlan, seconds: number, mark: string): Promise<void> {
  const token = tokens[0] as string;
  const body = JSON.stringify({ id: "l[<id>]", data: { deckId: "deck-1", title: "A slide", notes: `${mark}[<ns>]` } });
  // So many that none is missing before an answer is a second late, or several.
  const sender = await createSender(url, Math.max(perSecond, 64), [{ path: "/v1/models/slide", token, body }]);
  const sent: Promise<Sent>[] = [];
  const start = performance.now();
  for (let n = 0; n < seconds * perSecond; n++) {
    const wait = start + (n * 1_000) / perSecond - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const posted = sender.post();
    if (!posted) throw new Error("The server is seconds behind.");
    sent.push(posted);
  }
  const failed = (await Promise.all(sent)).reduce((sum, one) => sum + one.failed, 0);
  if (failed > 0) throw new Error(`${failed} of ${sent.length} commits failed.`);
  await new Promise((resolve) => setTimeout(resolve, 500));
  sender.close();
}
