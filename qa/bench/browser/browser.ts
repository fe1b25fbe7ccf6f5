import type { Row } from "../report/table.ts";
import { type Options, openStage } from "../stage/stage.ts";
import { measureBrowserQueue } from "./browser-queue.ts";
import { measureBrowserRows } from "./browser-rows.ts";
import { measureSlowBrowser } from "./browser-slow.ts";
import { openBrowser } from "./browser-stage.ts";
import { measureTakeover } from "./browser-takeover.ts";

/** The client in a real Chromium, with its databases on disk. */
export async function measureBrowser(options: Options): Promise<Row[]> {
  await using stage = await openStage();
  await using browser = await openBrowser(options.print);
  return [
    ...(await measureBrowserQueue(stage, browser, options)),
    ...(await measureTakeover(stage, browser, options)),
    ...(await measureBrowserRows(stage, browser, options)),
    ...(await measureSlowBrowser(stage, browser, options)),
  ];
}
