import { join } from "node:path";
import { build, type InlineConfig, type PreviewServer, preview } from "vite";
import { mirrorPlugin } from "./mirror-plugin.ts";
import { demoFolder } from "./project.ts";
import type { RunningMirror } from "./run-mirror.ts";

/**
 * Builds the page into this folder, as visitors of any app get it: only a page of fixed files can be kept for the time
 * without a network.
 */
export const buildPage = (folder: string): Promise<unknown> => build(page(folder));

/** Serves the page that was built into this folder. Port 0 is any port. */
export const servePage = (
  folder: string,
  port: number,
  mirror: RunningMirror,
  scheduleMs: readonly number[],
): Promise<PreviewServer> =>
  preview({ ...page(folder), plugins: [mirrorPlugin(mirror, scheduleMs)], preview: { port } });

/** The address without a slash at its end. */
export const addressOf = ({ resolvedUrls }: PreviewServer): string => (resolvedUrls?.local[0] ?? "").replace(/\/$/, "");

const page = (folder: string): InlineConfig => ({
  root: demoFolder,
  configFile: join(demoFolder, "vite.config.ts"),
  // Bundled by Vite, it would look for our packages where they are built, and not at their sources.
  configLoader: "native",
  logLevel: "warn",
  build: { outDir: folder, emptyOutDir: true },
});
