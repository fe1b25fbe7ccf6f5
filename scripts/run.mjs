// The one way in for every `npm` script: needs only Node and npm, brings the rest. `npm run <job> -- --help` lists all.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { endWithNpm } from "../packages/server/src/end-with-npm.mjs";
import { runNode, runTool } from "./command.mjs";
import { installWhenNeeded } from "./install.mjs";
import { jobs, say } from "./jobs.mjs";
import { root } from "./root.mjs";

const [name = "", ...words] = process.argv.slice(2);
endWithNpm();
process.exitCode = await main();

async function main() {
  const job = jobs[name];
  if (!job) {
    process.stderr.write(help());
    return name === "" || name === "--help" ? 0 : 1;
  }
  // Programs have their own help; for the others this is it.
  if (!job.program && words.includes("--help") && name !== "e2e") {
    process.stderr.write(help());
    return 0;
  }
  const tooOld = nodeIsTooOld();
  if (tooOld) return complain(tooOld);
  try {
    if (job.installs !== false) await installWhenNeeded(say);
    if (job.builds && !words.includes("--help") && (await runTool("tsc", ["-b"])) !== 0)
      return complain("The packages could not be built.");
    return job.program ? await runNode([join(root, job.program), ...words], job.env) : ((await job.run?.(words)) ?? 0);
  } catch (error) {
    return complain(error instanceof Error ? error.message : String(error));
  }
}

function nodeIsTooOld() {
  const { engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const [major, minor] = numbers(engines.node);
  const [ourMajor, ourMinor] = numbers(process.versions.node);
  if (ourMajor > major || (ourMajor === major && ourMinor >= minor)) return undefined;
  return `Holdfast needs Node ${major}.${minor} or later (this is ${process.versions.node}, ${process.execPath}).`;
}

/** @param {string} version @returns {[number, number]} */
function numbers(version) {
  const [major, minor] = version.replace(/^\D+/, "").split(".").map(Number);
  return [major ?? 0, minor ?? 0];
}

function help() {
  const lines = Object.entries(jobs).map(([job, { says }]) => `  ${job.padEnd(12)} ${says}`);
  return `Usage: npm start, npm test, or npm run <job> [-- args]\n\n${lines.join("\n")}\n`;
}

/** @param {string} sentence */
function complain(sentence) {
  say(sentence);
  return 1;
}
