import { symlinkSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright";
import { inject, onTestFinished } from "vitest";
import { root } from "../../scripts/root.mjs";
import { temporaryFolder } from "../../scripts/testing/temporary-folder.ts";
import { violations } from "../support/axe.ts";
import type {} from "./global-setup.ts";
import { ending, runIn } from "./run-command.ts";

/** Runs the packed program in a folder, as `npm create holdfast` does. */
export const create = (folder: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  ending(runIn(folder, join(inject("newcomer"), "node_modules", ".bin", "create-holdfast"), args, env));

/** A new app in a new folder, as the packed program writes it. */
export async function createApp(template: string): Promise<string> {
  const folder = temporaryFolder(template, onTestFinished);
  const { code, output } = await create(folder, ["my-app", "--template", template]);
  if (code !== 0) throw new Error(`create-holdfast failed (exit ${code}):\n${output}`);
  return join(folder, "my-app");
}

/** Gives it the packages of this workspace, which has what the templates need. No install, so it is quick. */
export function linkPackages(app: string): void {
  symlinkSync(join(root, "packages", "create-holdfast", "node_modules"), join(app, "node_modules"), "junction");
}

export interface RunningApp {
  readonly urls: { readonly page: string; readonly server: string };
  /** What a terminal does at Ctrl-C. Resolves with the exit code and all output, when everything has ended. */
  interrupt(): Promise<{ readonly code: number | null; readonly output: string }>;
}

/** `npm run dev`: with a command that the signals reach. Resolves when both addresses are printed. */
export async function startApp(
  app: string,
  [file = process.execPath, ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<RunningApp> {
  const child = runIn(app, file, args, { ...env, NO_COLOR: "1" });
  const ended = ending(child);
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  const urls = await new Promise<RunningApp["urls"]>((resolve, reject) => {
    let printed = "";
    child.stdout?.on("data", (bytes: Buffer) => {
      printed += bytes.toString();
      const [, page] = /^ +(?:Page|Ann) +(http:\/\/[^\s?]+)/m.exec(printed) ?? [];
      const [, server] = /^ +Server +(http:\/\/\S+?)\/docs$/m.exec(printed) ?? [];
      if (page && server) resolve({ page, server });
    });
    void ended.then(({ code, output }) => reject(new Error(`It ended (exit ${code}):\n${output}`)));
  });
  return {
    urls,
    interrupt: () => {
      child.kill("SIGINT");
      return ended;
    },
  };
}

/** What axe finds in an app. The devtools are not part of it, and no build has them. */
export const violationsOf = async (page: Page): Promise<string[]> =>
  (await violations(page)).filter((line) => !line.includes("Holdfast devtools"));
