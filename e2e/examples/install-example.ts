import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Template } from "../../packages/create-holdfast/src/templates.ts";
import { version } from "../../packages/create-holdfast/src/version.ts";
import { writeTemplate } from "../../packages/create-holdfast/src/write-template.ts";
import { pack } from "../../scripts/pack.mjs";
import { root } from "../../scripts/root.mjs";
import { ending, runIn } from "../packages/run-command.ts";

export interface InstalledExample {
  readonly folder: string;
  /** Runs a command in the folder; rejects with its output if it fails. */
  run(file: string, args: readonly string[], env?: Readonly<Record<string, string>>): Promise<void>;
  remove(): void;
}

/** Copies an example and installs it with the packed packages, as a stranger would. */
export function installExample(name: string): Promise<InstalledExample> {
  const own = /(^|\/)(node_modules|dist|\.next|\.holdfast)(\/|$)/;
  const example = join(root, "examples", name);
  return installInNew(name, (folder) =>
    cpSync(example, folder, { recursive: true, filter: (from) => !own.test(from.slice(example.length)) }),
  );
}

/** The same of an app that `npm create holdfast` has written. */
export const installTemplate = (template: Template): Promise<InstalledExample> =>
  installInNew(template, (folder) => writeTemplate(folder, template, version));

async function installInNew(name: string, write: (folder: string) => void): Promise<InstalledExample> {
  const folder = mkdtempSync(join(tmpdir(), `holdfast-${name}-`));
  write(folder);
  const run: InstalledExample["run"] = async (file, args, env = {}) => {
    const { code, output } = await ending(runIn(folder, file, args, env));
    if (code !== 0) throw new Error(`${file} ${args.join(" ")} failed (exit ${code}):\n${output}`);
  };
  const args = ["install", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];
  await run("npm", [...args, ...(await pack())]);
  return { folder, run, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

export const freePort = () =>
  new Promise<number>((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
