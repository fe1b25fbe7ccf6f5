import type { Page } from "@playwright/test";

/** What the main thread of a page does. */
export interface MainThread {
  /** Does the work, and says how long the longest task meanwhile was; in ms. */
  longestTask<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly longestMs: number }>;
}

/** An event of the browser's trace. `dur` is in µs. */
interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly dur?: number;
  readonly args: { readonly name?: string };
}

/** A page with a part of the processor's speed: the browser makes each of its tasks that much longer. */
export async function slowMainThread(page: Page, slowdown: number): Promise<MainThread> {
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: slowdown });
  const events: TraceEvent[] = [];
  session.on("Tracing.dataCollected", ({ value }) => events.push(...(value as unknown as TraceEvent[])));
  return {
    async longestTask(work) {
      events.length = 0;
      // What a `longtask` observer sees, and the shorter ones too.
      const includedCategories = ["disabled-by-default-devtools.timeline", "__metadata"];
      await session.send("Tracing.start", { traceConfig: { includedCategories, excludedCategories: ["*"] } });
      const result = await work();
      const complete = new Promise((resolve) => session.once("Tracing.tracingComplete", resolve));
      await session.send("Tracing.end");
      await complete;
      return { result, longestMs: longestOf(events) };
    },
  };
}

function longestOf(events: readonly TraceEvent[]): number {
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid}/${tid}`;
  const pages = new Set(
    events.filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain").map(threadOf),
  );
  const tasks = events.filter((event) => event.name === "RunTask" && pages.has(threadOf(event)));
  return tasks.reduce((longest, { dur = 0 }) => Math.max(longest, dur / 1_000), 0);
}
