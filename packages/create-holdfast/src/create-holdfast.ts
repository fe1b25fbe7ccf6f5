#!/usr/bin/env node
// `npm create holdfast`: writes a folder with an app that runs.
import { resolve } from "node:path";
import { askWhatIsMissing } from "./ask-what-is-missing.ts";
import { CreateError } from "./create-error.ts";
import { help } from "./help.ts";
import { nextSteps } from "./next-steps.ts";
import { readOptions } from "./options.ts";
import { install, packageManager } from "./package-manager.ts";
import { version } from "./version.ts";
import { writeTemplate } from "./write-template.ts";

async function run(args: readonly string[]): Promise<void> {
  const options = readOptions(args, process.env);
  if (options.kind === "help") return void process.stdout.write(help);
  if (options.kind === "version") return void process.stdout.write(`${version}\n`);
  const isInteractive = process.stdin.isTTY === true && process.stdout.isTTY === true && !options.yes;
  const { folder, template } = await askWhatIsMissing(options, isInteractive);
  const path = resolve(folder);
  const files = writeTemplate(path, template, version);
  const manager = packageManager(process.env);
  const isInstalled = options.install && (await install(path, manager));
  process.stdout.write(nextSteps({ path, from: process.cwd(), template, files: files.length, manager, isInstalled }));
  if (options.install && !isInstalled) process.exitCode = 1;
}

run(process.argv.slice(2)).catch((error: unknown) => {
  // Anything else is a bug, and its stack says where.
  const text = error instanceof CreateError ? error.message : error instanceof Error ? error.stack : String(error);
  process.stderr.write(`create-holdfast: ${text}\n`);
  process.exitCode = 1;
});
