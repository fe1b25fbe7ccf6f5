import type { Page } from "@playwright/test";

/** What the main thread of a page does. */
export interface MainThread {
  /**
   * Does the work, and says how long the longest task meanwhile was, and how much of the processor the one that used most
   * of it; in ms. The second does not depend on what else the machine does.
   */
  longestTask<T>(
    work: () => Promise<T>,
  ): Promise<{ readonly result: T; readonly longestMs: number; readonly busiestMs: number }>;
}

/** An event of the browser's trace. `dur` and `tdur`, of the processor, are in µs. */
interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly dur?: number;
  readonly tdur?: number;
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
      const tasks = tasksIn(events);
      return {
        result,
        longestMs: most(tasks.map(({ dur = 0 }) => dur)),
        busiestMs: most(tasks.map(({ tdur = 0 }) => tdur)),
      };
    },
  };
}

const most = (spans: readonly number[]): number => spans.reduce((longest, us) => Math.max(longest, us / 1_000), 0);

function tasksIn(events: readonly TraceEvent[]): readonly TraceEvent[] {
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid}/${tid}`;
  const pages = new Set(
    events.filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain").map(threadOf),
  );
  return events.filter((event) => event.name === "RunTask" && pages.has(threadOf(event)));
}
