import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BrowserContext, type ConsoleMessage, chromium } from "@playwright/test";
import { browserArguments, findChromium } from "../../scripts/browser.mjs";

/** A browser profile on disk, that outlives the browser. */
export interface Profile {
  /** The console errors of its pages. */
  readonly complaints: string[];
  /** Starts a browser on it; closing the context ends the browser. */
  start(): Promise<BrowserContext>;
  remove(): Promise<void>;
}

export async function newProfile(): Promise<Profile> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-profile-"));
  const complaints: string[] = [];
  const running = new Set<BrowserContext>();
  return {
    complaints,
    async start() {
      const executablePath = findChromium();
      const context = await chromium.launchPersistentContext(folder, {
        args: browserArguments,
        viewport: { width: 1280, height: 900 },
        ...(executablePath && { executablePath }),
      });
      running.add(context);
      context.on("weberror", (error) => complaints.push(String(error.error())));
      context.on("console", (message) => isComplaint(message) && complaints.push(message.text()));
      return context;
    },
    async remove() {
      for (const context of running) await context.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

export const isComplaint = (message: ConsoleMessage): boolean => /^(error|warning)$/.test(message.type());
