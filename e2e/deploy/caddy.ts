import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { root } from "../../scripts/root.mjs";

/** Why the real proxy cannot be started here; undefined if it can. */
export function whyNoCaddy(): string | undefined {
  // Only Linux has all of 127.0.0.0/8, which the test needs to be two clients.
  if (process.platform !== "linux") return "it needs Linux";
  const { status } = spawnSync("caddy", ["version"], { stdio: "ignore" });
  return status === 0 ? undefined : 'no caddy in PATH ("apt-get install caddy" brings it)';
}

export interface RunningProxy {
  /** https, on the name "localhost". */
  readonly url: string;
  readonly httpUrl: string;
  /** The certificate of Caddy's own authority, which signed the one for localhost. */
  readonly authority: string;
  stop(): Promise<void>;
}

/** Caddy with deploy/Caddyfile as it stands, in front of these servers. Its certificates are made in a temporary folder. */
export async function startCaddy(serverUrls: readonly string[]): Promise<RunningProxy> {
  const home = mkdtempSync(join(tmpdir(), "holdfast-caddy-"));
  const [httpPort, httpsPort] = [await freePort(), await freePort()];
  const child = spawn("caddy", ["run", "--config", join(root, "deploy/Caddyfile"), "--adapter", "caddyfile"], {
    stdio: ["ignore", "ignore", "pipe"],
    env: {
      PATH: process.env.PATH ?? "",
      HOME: home,
      XDG_DATA_HOME: home,
      XDG_CONFIG_HOME: home,
      HTTP_PORT: String(httpPort),
      HTTPS_PORT: String(httpsPort),
      HOLDFAST_SERVERS: serverUrls.map((url) => new URL(url).host).join(" "),
    },
  });
  // A run that is cut short leaves no proxy behind.
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => {
    log += chunk.toString();
  });
  const stop = async () => {
    await ended(child);
    process.off("exit", kill);
    rmSync(home, { recursive: true, force: true });
  };
  const certificate = join(home, "caddy/pki/authorities/local/root.crt");
  for (const until = Date.now() + 60_000; !(existsSync(certificate) && log.includes("certificate obtained")); ) {
    if (child.exitCode !== null || Date.now() > until) {
      await stop();
      throw new Error(`Caddy did not start:\n${log}`);
    }
    await sleep(50);
  }
  return {
    url: `https://localhost:${httpsPort}`,
    httpUrl: `http://localhost:${httpPort}`,
    authority: readFileSync(certificate, "utf8"),
    stop,
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  // Longer than the configuration gives open connections.
  const late = setTimeout(() => child.kill("SIGKILL"), 10_000);
  await gone;
  clearTimeout(late);
}

export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}
