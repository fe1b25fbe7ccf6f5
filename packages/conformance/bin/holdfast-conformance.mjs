#!/usr/bin/env node
// `npx holdfast-conformance` in this workspace: the program from its sources. The published package has it built.
import { fileURLToPath } from "node:url";
import { runCommand } from "../../../scripts/command.mjs";

const program = fileURLToPath(new URL("../src/main.ts", import.meta.url));
process.exitCode = await runCommand(
  process.execPath,
  ["--import", import.meta.resolve("tsx"), program, ...process.argv.slice(2)],
  { cwd: process.cwd() },
);
