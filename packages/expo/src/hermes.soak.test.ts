import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { storageContract } from "@holdfast/sdk/testing";
import { build } from "esbuild";
import { expect, onTestFinished, test } from "vitest";

const INSTALLED = ["hermes-engine-cli@0.12.0", "@babel/core@8.1.3", "@babel/preset-env@8.0.7"];

test.runIf(process.platform === "linux" && process.arch === "x64")(
  "[XP1] the contract of storages holds under Hermes, the engine of React Native",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "holdfast-hermes-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, "package.json"), "{}");
    execFileSync("npm", ["install", "--no-audit", "--no-fund", ...INSTALLED], { cwd: folder, stdio: "ignore" });
    const bundle = join(folder, "bundle.js");
    await build({
      entryPoints: [fileURLToPath(new URL("testing/contract-in-hermes.ts", import.meta.url))],
      ...{ outfile: bundle, bundle: true, format: "iife", target: "es2020", conditions: ["holdfast-source"] },
    });
    // As Metro does: Hermes has no classes and no async functions of its own.
    const { transformFileSync } = createRequire(join(folder, "package.json"))("@babel/core") as {
      transformFileSync(file: string, options: object): { code: string };
    };
    const preset = [join(folder, "node_modules/@babel/preset-env"), { targets: "ie 11" }];
    const { code } = transformFileSync(bundle, {
      presets: [preset],
      compact: false,
      configFile: false,
      babelrc: false,
    });
    const program = join(folder, "program.js");
    writeFileSync(program, code);
    const hermes = join(folder, "node_modules/hermes-engine-cli/linux64-bin/hermes");
    const said = execFileSync(hermes, ["-w", program], { encoding: "utf8" }).trim().split("\n");
    expect(said.filter((line) => !line.startsWith("ok "))).toEqual([]);
    expect(said).toHaveLength(storageContract.length);
  },
  240_000,
);
