import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { pack } from "./pack.mjs";
import { billOfMaterials, type Listed } from "./release/bill-of-materials.ts";
import { judgeManifest, type Manifest } from "./release/judge-manifest.ts";
import { notesOf } from "./release/notes.ts";
import { root } from "./root.mjs";

const HELP = `Makes all that a release consists of in dist/release, and publishes nothing.

  npm run release -- --dry             the packages, their notes, a bill of materials, and an image if Docker runs
  npm run release -- --dry --no-image  without the image

docs/releasing.md says what comes before and after.
`;

const { values: asked } = parseArgs({
  options: { dry: { type: "boolean" }, "no-image": { type: "boolean" }, help: { type: "boolean", short: "h" } },
});
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const run = (file: string, ...words: string[]): string =>
  execFileSync(file, words, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 28, stdio: ["ignore", "pipe", "ignore"] });

if (asked.help || !asked.dry) {
  process.stdout.write(HELP);
  process.exit(asked.help ? 0 : 2);
}
try {
  await prepare();
} catch (error) {
  say(`release: ${(error as Error).message}`);
  process.exitCode = 1;
}

async function prepare(): Promise<void> {
  const folder = join(root, "dist", "release");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const { version } = JSON.parse(readFileSync(join(root, "packages/sdk/package.json"), "utf8")) as Manifest;
  const notes = notesOf(readFileSync(join(root, "CHANGELOG.md"), "utf8"), version);
  writeFileSync(join(folder, "NOTES.md"), notes);

  say("Packing …");
  const problems: string[] = [];
  const withoutAddress: string[] = [];
  for (const file of await pack()) {
    const files = run("tar", "-tzf", file)
      .split("\n")
      .map((line) => line.replace(/^package\//, ""));
    const manifest = JSON.parse(run("tar", "-xzOf", file, "package/package.json")) as Manifest;
    problems.push(...judgeManifest(manifest, version, files));
    if (manifest.repository === undefined) withoutAddress.push(manifest.name);
    const made = join(folder, basename(file));
    renameSync(file, made);
    say(`  ${basename(made)}  ${(statSync(made).size / 1_024).toFixed(0)} KB`);
  }

  const { packageManager } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { packageManager: string };
  const listed = JSON.parse(
    run("npx", "--yes", packageManager, "--filter", "./packages/*", "list", "--prod", "--json", "--depth", "Infinity"),
  ) as Listed[];
  const bill = billOfMaterials(version, listed);
  writeFileSync(join(folder, "sbom.cdx.json"), bill);
  say(`  sbom.cdx.json  ${(JSON.parse(bill) as { components: unknown[] }).components.length} packages`);
  say(`  NOTES.md  ${notes.split("\n").length} lines`);
  say(image(version));

  if (withoutAddress.length > 0)
    say(
      `\nBefore the first release: give each package.json a "repository". Provenance needs it, and so far it lacks in ${withoutAddress.join(", ")}.`,
    );
  if (problems.length > 0) throw new Error(`this is not ready to be published:\n${problems.join("\n")}`);
  say(`\nAll of ${version} is in dist/release. Nothing was published: docs/releasing.md says what comes next.`);
}

function image(version: string): string {
  if (asked["no-image"]) return "  no image, as asked";
  const docker = (...words: string[]) =>
    spawnSync("docker", words, { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  if (spawnSync("docker", ["info"], { stdio: "ignore" }).status !== 0) return "  no image: Docker does not run here";
  const tag = `holdfast-server:${version}`;
  const { status } = docker("build", "--file", "deploy/Dockerfile", "--tag", tag, ".");
  if (status !== 0) throw new Error("the image could not be built; the reason is above.");
  return `  image ${tag}`;
}
