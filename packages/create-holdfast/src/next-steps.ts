import { isAbsolute, relative } from "node:path";
import type { PackageManager } from "./package-manager.ts";
import type { Template } from "./templates.ts";

export interface Written {
  readonly path: string;
  /** The folder of the terminal. */
  readonly from: string;
  readonly template: Template;
  readonly files: number;
  readonly manager: PackageManager;
  readonly isInstalled: boolean;
}

/** What was written, and the commands that come next. */
export function nextSteps({ path, from, template, files, manager, isInstalled }: Written): string {
  const way = relative(from, path);
  // On another drive of Windows there is no relative path.
  const folder = isAbsolute(way) || way.startsWith("..") ? path : way;
  const commands = [
    ...(folder === "" ? [] : [`cd ${/^[\w./\\:-]+$/.test(folder) ? folder : `"${folder}"`}`]),
    ...(isInstalled ? [] : [`${manager} install`]),
    ...before[template],
    `${manager} run dev`,
  ];
  return `Wrote ${files} files to ${path} (template ${template}).\n\nNext:\n${commands.map((line) => `  ${line}\n`).join("")}\n${hints[template]}\n`;
}

const before: Readonly<Record<Template, readonly string[]>> = {
  react: [],
  next: [],
  "node-agent": [],
  "existing-postgres": ["# write the address of your database into .env, as DATABASE_URL"],
};

const hints: Readonly<Record<Template, string>> = {
  react: "It prints the address of the page for two people: open both next to each other.",
  next: "It prints the address of the page: open it in two windows.",
  "node-agent": "It starts the server and the agent. README.md says how to give it work.",
  "existing-postgres": "The first time, it asks which tables you want and what it may do.",
};
