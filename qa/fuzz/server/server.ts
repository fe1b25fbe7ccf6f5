import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { newMasterKey, newSecretToken } from "@holdfast/server";
import { sourceProgram } from "@holdfast/server/testing/source-program";
import { tokensIn } from "../judge/judge.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** The server's own program, so that it is seen when it ends; and its log, which is read along. */
export interface WatchedServer {
  readonly url: string;
  readonly secretKey: string;
  readonly adminToken: string;
  readonly masterKey: string;
  readonly pid: number | undefined;
  /** It ended by itself; how. */
  readonly exit: string | undefined;
  /** Lines of its log that tell of a bug. */
  readonly bugs: readonly string[];
  /** Tokens that are in its log, and whether the operator's is. */
  readonly loggedSecrets: ReadonlySet<string>;
  /** Ends the process. Returns how it ended. */
  stop(): Promise<string>;
}

const ENDED_WELL = "code 0";

export interface WatchedPlan {
  readonly env?: Readonly<Record<string, string>>;
  /** Further words to Node, before the program's. */
  readonly node?: readonly string[];
}

export async function watchServer(databaseUrl: string, plan: WatchedPlan = {}): Promise<WatchedServer> {
  const secretKey = newSecretToken(true);
  const masterKey = newMasterKey();
  const adminToken = `admin_${newSecretToken(true).slice(8)}`;
  const { flags, file } = sourceProgram(join(ROOT, "packages/server/src/main.ts"));
  const child = spawn(process.execPath, [...flags, ...(plan.node ?? []), file], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env.PATH ?? "",
      HOME: process.env.HOME ?? "",
      PORT: "0",
      DATABASE_URL: databaseUrl,
      HOLDFAST_SECRET_KEY: secretKey,
      HOLDFAST_ADMIN_TOKEN: adminToken,
      HOLDFAST_MASTER_KEY: masterKey,
      // Rate limits would refuse most requests before they are handled.
      HOLDFAST_RATE_RK: "0",
      HOLDFAST_RATE_EK: "0",
      HOLDFAST_RATE_FAILED_AUTH: "0",
      ...plan.env,
    },
  });
  const log = readAlong(child, adminToken);
  const ended = once(child, "close").then(([code, signal]) => (code === null ? String(signal) : `code ${code}`));
  let exit: string | undefined;
  let stopping = false;
  void ended.then((how) => {
    if (!stopping) exit = how;
  });
  const url = await listening(child);
  return {
    url,
    ...{ secretKey, adminToken, masterKey, pid: child.pid },
    get exit() {
      return exit;
    },
    bugs: log.bugs,
    loggedSecrets: log.loggedSecrets,
    async stop() {
      stopping = true;
      child.kill("SIGTERM");
      return await ended;
    },
  };
}

export const endedWell = (how: string): boolean => how === ENDED_WELL;

async function listening(child: ChildProcess): Promise<string> {
  let text = "";
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    text += chunk.toString();
    if (text.includes("\n")) break;
  }
  if (!text.includes('"listening"')) throw new Error("The server did not start.");
  return (JSON.parse(text) as { url: string }).url;
}

const MOST_KEPT = 20;

function readAlong(child: ChildProcess, adminToken: string) {
  const bugs: string[] = [];
  const loggedSecrets = new Set<string>();
  let rest = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      for (const token of tokensIn(line)) loggedSecrets.add(token);
      if (line.includes(adminToken)) loggedSecrets.add(adminToken);
      if (/"level":(50|60)|^\s+at |FATAL ERROR/.test(line) && bugs.length < MOST_KEPT) bugs.push(line.slice(0, 1_500));
    }
  });
  return { bugs, loggedSecrets };
}
