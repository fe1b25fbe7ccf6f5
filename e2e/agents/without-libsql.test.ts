import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../scripts/testing/temporary-folder.ts";

let folder = "";
beforeEach(() => {
  folder = temporaryFolder("without", onTestFinished);
});

/** Runs a program in a folder where nothing but the SDK itself is installed. */
async function run(text: string): Promise<string> {
  await build({
    stdin: { contents: text, loader: "ts", resolveDir: fileURLToPath(new URL(".", import.meta.url)) },
    outfile: join(folder, "agent.mjs"),
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    conditions: ["holdfast-source"],
    // The bundle loads Node's own modules with `require`.
    banner: {
      js: `import { createRequire as requireOf } from "node:module"; const require = requireOf(import.meta.url);`,
    },
    logLevel: "silent",
  });
  const env = { ...process.env };
  // The test's environment may name further folders with packages.
  delete env.NODE_PATH;
  const { stdout, stderr } = spawnSync(process.execPath, ["agent.mjs"], { cwd: folder, encoding: "utf8", env });
  return stdout + stderr;
}

const client = (more: string) => `
  import { createClient, defineSchema, fileStorage } from "@holdfast/sdk/node";
  const schema = defineSchema({ models: { slide: { fields: { title: { type: "string" } } } } });
  const client = createClient({ schema, url: "http://127.0.0.1:1", getToken: () => "t", ${more} });
  console.log("made");
  await client.close();
`;

test("[D26] without libsql a store in a file fails with an install hint, and nothing else needs libsql", async () => {
  expect(await run(client(`storage: fileStorage("./agent.db")`))).toMatch(/npm install libsql/);
  expect(readdirSync(folder)).toEqual(["agent.mjs"]);
  expect(await run(client(""))).toBe("made\n");
});
