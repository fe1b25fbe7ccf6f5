import type { Page } from "@playwright/test";

/** The browser's own measurements of a page. */
export interface Painted {
  /** From each touch of a key or the mouse to the next paint, in ms; the longest event of each interaction. */
  readonly interactions: readonly number[];
  readonly longTasks: readonly number[];
  /** The layout shift without user input: 0 is none. */
  readonly shift: number;
  /** A description of the shifts. */
  readonly shifts: readonly string[];
}

interface Observed {
  interactions: Map<number, number>;
  longTasks: number[];
  shifts: { value: number; what: string }[];
}

interface LayoutShift extends PerformanceEntry {
  readonly value: number;
  readonly hadRecentInput: boolean;
  readonly sources: readonly { readonly node?: Node | null }[];
}

type Watched = typeof window & { painted: Observed };

/** Begins to measure, from the page's first byte on. */
export async function watchPaint(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const painted: Observed = { interactions: new Map(), longTasks: [], shifts: [] };
    (window as Watched).painted = painted;
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) painted.longTasks.push(duration);
    }).observe({ type: "longtask", buffered: true });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        const { interactionId = 0, duration } = entry as PerformanceEntry & { interactionId?: number };
        const before = painted.interactions.get(interactionId) ?? 0;
        if (interactionId > 0) painted.interactions.set(interactionId, Math.max(before, duration));
      }
    }).observe({ type: "event", buffered: true, durationThreshold: 16 } as PerformanceObserverInit);
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as LayoutShift[]) {
        if (entry.hadRecentInput) continue;
        const what = entry.sources.map(({ node }) =>
          node instanceof Element ? node.className || node.tagName : node?.nodeName,
        );
        painted.shifts.push({ value: entry.value, what: what.join(", ") });
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
}

/** The measurements since the start, or since `forgetPaint`. */
export const readPaint = (page: Page): Promise<Painted> =>
  page.evaluate(() => {
    const { interactions, longTasks, shifts } = (window as Watched).painted;
    return {
      interactions: [...interactions.values()],
      longTasks,
      shift: shifts.reduce((sum, { value }) => sum + value, 0),
      shifts: shifts.map(({ value, what }) => `${value.toFixed(4)}: ${what}`),
    };
  });

export const forgetPaint = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const { painted } = window as Watched;
    painted.interactions.clear();
    painted.longTasks.length = 0;
    painted.shifts.length = 0;
  });
