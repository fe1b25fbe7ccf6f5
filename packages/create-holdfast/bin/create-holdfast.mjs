#!/usr/bin/env node
// `npx create-holdfast` in this workspace: the program from its sources. The published package has it built.
import { fileURLToPath } from "node:url";
import { runCommand } from "../../../scripts/command.mjs";

const program = fileURLToPath(new URL("../src/create-holdfast.ts", import.meta.url));
const flags = ["--conditions=holdfast-source", "--import", import.meta.resolve("tsx")];
process.exitCode = await runCommand(process.execPath, [...flags, program, ...process.argv.slice(2)], {
  cwd: process.cwd(),
});
