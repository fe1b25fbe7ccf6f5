import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { request } from "node:https";
import { newMasterKey, newSecretToken } from "@holdfast/server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../../scripts/root.mjs";
import { until } from "../../scripts/testing/until.ts";
import { freePort } from "./caddy.ts";
import { findContainerEngine } from "./container-engine.ts";

const found = await findContainerEngine();
const title = found.kind === "ready" ? ` with ${found.engine}` : ` (skipped: ${found.reason})`;

describe.skipIf(found.kind === "missing")(`deploy/compose.yaml is built and started${title}`, () => {
  const key = newSecretToken(true);
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    HOLDFAST_SITE: "localhost",
    HOLDFAST_SECRET_KEY: key,
    HOLDFAST_MASTER_KEY: newMasterKey(),
    POSTGRES_PASSWORD: randomBytes(12).toString("hex"),
  };
  const project = `holdfast-test-${randomBytes(3).toString("hex")}`;
  const engine = found.kind === "ready" ? found.engine : "";

  beforeAll(async () => {
    env.HOLDFAST_HTTP_PORT = String(await freePort());
    env.HOLDFAST_HTTPS_PORT = String(await freePort());
    // Podman's own format has no HEALTHCHECK.
    const format = engine === "podman" ? ["--format", "docker"] : [];
    run(engine, "build", ...format, "--file", "deploy/Dockerfile", "--tag", "holdfast-server", ".");
    onCompose("up", "-d");
    await until(async () => expect(await statusOf("/readyz")).toBe(200));
  }, 900_000);
  afterAll(() => onCompose("down", "-v"), 120_000);

  function run(program: string, ...args: string[]): string {
    const { status, stdout, stderr } = spawnSync(program, args, { cwd: root, env, encoding: "utf8" });
    if (status !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${status}:\n${stdout}${stderr}`);
    return stdout;
  }

  function onCompose(...args: string[]): string {
    return run(engine, "compose", "-p", project, "-f", "deploy/compose.yaml", ...args);
  }

  /** Caddy's authority is made in the container, so the certificate is not checked here; proxy.pg.test.ts checks it. */
  function statusOf(path: string): Promise<number> {
    const headers = { authorization: `Bearer ${key}` };
    const url = `https://localhost:${env.HOLDFAST_HTTPS_PORT}${path}`;
    return new Promise((resolve) => {
      const sent = request(url, { headers, rejectUnauthorized: false, agent: false, timeout: 5_000 });
      sent.once("error", () => resolve(0));
      sent.once("timeout", () => sent.destroy());
      sent.once("response", (response) => resolve(response.resume().statusCode ?? 0));
      sent.end();
    });
  }

  test("a request with the key reaches the log through the proxy", async () => {
    expect(await statusOf("/v1/log")).toBe(200);
  });

  test("a server runs as an unprivileged user on a read-only disk", () => {
    expect(onCompose("exec", "-T", "server-1", "id", "-u").trim()).not.toBe("0");
    expect(() => onCompose("exec", "-T", "server-1", "touch", "/app/file")).toThrow(/ended with 1/);
  });

  test("SIGTERM ends a server with 0, and the other one answers", async () => {
    onCompose("stop", "server-1");
    const [name = ""] = run(
      engine,
      "ps",
      "--all",
      "--filter",
      `name=${project}.server-1`,
      "--format",
      "{{.Names}}",
    ).split("\n");
    expect(run(engine, "inspect", "--format", "{{.State.ExitCode}}", name).trim()).toBe("0");
    expect(await statusOf("/v1/log")).toBe(200);
  });
});
