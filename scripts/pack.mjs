// Builds what npm publishes and packs it into dist/packages, with the package manager that also publishes it:
// `publishConfig` and the versions of workspace packages are filled in by pnpm and not by npm.
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { runCommand, runTool } from "./command.mjs";
import { environmentFor } from "./install.mjs";
import { isProgram, root } from "./root.mjs";

const packages = join(root, "packages");
export const packsFolder = join(root, "dist", "packages");

/** @returns {Promise<string[]>} the paths of the tarballs */
export async function pack() {
  rmSync(packsFolder, { recursive: true, force: true });
  for (const name of readdirSync(packages)) sweep(join(packages, name));
  await done("The build", runTool("tsc", ["-b"]));
  const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const words = ["--yes", packageManager, "--filter", "./packages/*", "pack", "--pack-destination", packsFolder];
  const options = { env: { ...environmentFor(process.env), npm_config_update_notifier: "false" } };
  const io = { stdio: /** @type {["ignore", "ignore", 2]} */ (["ignore", "ignore", 2]) };
  await done("Packing", runCommand("npx", words, { ...options, ...io, shell: process.platform === "win32" }));
  return readdirSync(packsFolder).map((name) => join(packsFolder, name));
}

/**
 * Removes what an earlier build made of a source that is gone: the compiler leaves it, and it would be published.
 * @param {string} folder of a package
 */
export function sweep(folder) {
  const dist = join(folder, "dist");
  if (!existsSync(dist)) return;
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const [, stem] = /^(.*?)(\.d\.ts|\.js)(\.map)?$/.exec(path.slice(dist.length)) ?? [];
    if (!entry.isFile() || stem === undefined) continue;
    const sources = [".ts", ".tsx"].map((ending) => join(folder, "src", `${stem}${ending}`));
    if (!sources.some((source) => existsSync(source))) rmSync(path);
  }
}

/**
 * @param {string} what
 * @param {Promise<number>} running
 */
async function done(what, running) {
  const code = await running;
  if (code !== 0) throw new Error(`${what} failed (exit ${code}); the reason is above.`);
}

if (isProgram(import.meta.url)) for (const path of await pack()) process.stdout.write(`${path}\n`);
