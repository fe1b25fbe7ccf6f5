import type { Row } from "../report/table.ts";
import { openStage } from "../stage/stage.ts";
import { measureBrowserQueue } from "./browser-queue.ts";
import { measureBrowserRows } from "./browser-rows.ts";
import { openBrowser } from "./browser-stage.ts";
import { measureTakeover } from "./browser-takeover.ts";

/** The client in a real Chromium, with its databases on disk. */
export async function measureBrowser(options: { rounds: number; print(line: string): void }): Promise<Row[]> {
  const stage = await openStage();
  try {
    const browser = await openBrowser(options.print);
    try {
      return [
        ...(await measureBrowserQueue(stage, browser, options)),
        ...(await measureTakeover(stage, browser, options)),
        ...(await measureBrowserRows(stage, browser, options)),
      ];
    } finally {
      await browser.close();
    }
  } finally {
    await stage.close();
  }
}
