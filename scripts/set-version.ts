import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { isLater, moveUnreleased } from "./release/move-unreleased.ts";

// Prepares a release: gives all packages one version, and what is unreleased its place in the changelogs.
const [version = ""] = process.argv.slice(2);
const names = readdirSync("packages");
const changelogOf = (name: string) => `packages/${name}/CHANGELOG.md`;
const manifestOf = (name: string) => `packages/${name}/package.json`;
const read = (path: string) => readFileSync(path, "utf8");

try {
  for (const name of names) {
    const before = (JSON.parse(read(manifestOf(name))) as { version: string }).version;
    if (!isLater(version, before)) throw new Error(`${version} is not later than ${before}, the version of ${name}.`);
  }
  const packages = Object.fromEntries(names.map((name) => [name, read(changelogOf(name))]));
  const moved = moveUnreleased({ repository: read("CHANGELOG.md"), packages }, version);
  writeFileSync("CHANGELOG.md", moved.repository);
  for (const name of names) {
    writeFileSync(changelogOf(name), moved.packages[name] ?? "");
    writeFileSync(manifestOf(name), read(manifestOf(name)).replace(/^( {2}"version": )".*"/m, `$1"${version}"`));
  }
  // The only manifest that names the packages by their versions: it is installed as a user of the packages would.
  const example = "examples/tracker/package.json";
  writeFileSync(example, read(example).replace(/("@holdfast\/\w+": "\^).*"/g, `$1${version}"`));
  process.stderr.write(`All ${names.length} packages are ${version} now. Look at the changes and commit them.\n`);
} catch (error) {
  process.stderr.write(`set-version: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
