import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCommand } from "./command.mjs";
import { root } from "./root.mjs";

/** Says what was installed last; inside what it describes, so that removing that removes it too. */
const stampFile = join(root, "node_modules", ".holdfast-installed");

/**
 * Installs with the pinned pnpm, unless what is installed already fits.
 * @param {(line: string) => void} say
 */
export async function installWhenNeeded(say) {
  const stamp = wantedStamp();
  if (existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp) return;
  const pnpm = JSON.parse(readFileSync(join(root, "package.json"), "utf8")).packageManager;
  say(`installing with ${pnpm} (the first time takes a while)`);
  const startedAt = Date.now();
  const code = await runCommand("npx", ["--yes", pnpm, "install", "--frozen-lockfile", "--prefer-offline"], {
    // Its report goes to stderr too: the stdout of a job belongs to its program.
    stdio: ["ignore", 2, 2],
    env: { ...environmentFor(process.env), npm_config_update_notifier: "false" },
    shell: process.platform === "win32",
  });
  if (code !== 0) {
    throw new Error(
      `The install failed (exit ${code}); the reason is above. It needs the npm registry. ` +
        "After changing a package.json, run `npx pnpm install` once to update the lockfile.",
    );
  }
  writeFileSync(stampFile, stamp);
  say(`installed in ${((Date.now() - startedAt) / 1000).toFixed(1)} s`);
}

/** Everything that decides what an install gives, as one short text. */
function wantedStamp() {
  const hash = createHash("sha256").update(`${process.platform} ${process.arch} ${process.versions.modules}`);
  for (const file of ["pnpm-lock.yaml", "pnpm-workspace.yaml", "package.json", ...packageFiles()]) {
    hash.update(`\0${file}\0`).update(readFileSync(join(root, file)));
  }
  return hash.digest("hex");
}

/** The package.json of each workspace folder; without its own node_modules an install is needed whatever else holds. */
function packageFiles() {
  const folders = ["packages", "apps", "examples"].flatMap((group) =>
    readdirSync(join(root, group)).map((name) => join(group, name)),
  );
  return [...folders, "e2e", "qa", "site"]
    .map((folder) => join(folder, "package.json"))
    .filter((file) => existsSync(join(root, file)));
}

/**
 * npm hands its whole configuration to what it runs as `npm_config_…`, and pnpm would take it for its own settings.
 * Only how to reach the registry is passed on.
 * @param {NodeJS.ProcessEnv} env
 */
export function environmentFor(env) {
  const kept =
    /^npm_config_(registry|cache|userconfig|globalconfig|proxy|http_proxy|https_proxy|noproxy|ca|cafile|strict_ssl)$/i;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^npm_/i.test(name) || kept.test(name)));
}
