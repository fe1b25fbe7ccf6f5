import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { webhookLimits } from "@holdfast/sdk/protocol";
import { type Command, CommanderError } from "commander";
import { createProgram } from "../../cli/program.ts";
import { createEncryption, newMasterKey } from "../../encryption.ts";
import { readOwnService } from "../../kernel/connection/database-owner.ts";
import { createPool } from "../../kernel/connection/pool.ts";
import { renewLogs } from "../../kernel/log/flows/log-epoch.ts";
import { dumpOrganization, restoreOrganization } from "../../kernel/organizations/flows/dump.ts";
import { newSecretToken } from "../../kernel/tokens/flows/secret-keys.ts";
import { operatorDatabases } from "../../modules/databases/flows/operator-databases.ts";
import { readPlacesOfAll } from "../../modules/databases/flows/recover-tenant.ts";
import { datasourceReach } from "../../modules/databases/reach.ts";
import { builtInHooks } from "../../modules/open-modules.ts";
import { withSourceTools } from "../../modules/sources/tools.ts";
import { openTableTools } from "../../modules/tables/flows/table-tools.ts";
import { createWebhookSender } from "../../modules/webhooks/send-webhook.ts";
import { ADMIN, type App } from "../app.ts";
import { sourceProgram } from "../source-program.ts";

const SOURCES = new URL("../../", import.meta.url);
const PACKAGE = fileURLToPath(new URL("../../../", import.meta.url));

export interface Ended {
  /** Null if a signal ended it. */
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A running command: its output so far, and its result. */
export interface Running {
  readonly texts: { readonly out: string; readonly err: string };
  readonly ended: Promise<Ended>;
  /** Ctrl-C. */
  interrupt(): void;
}

export interface CommandLine {
  /** Runs the command in a separate process, with only the environment variables that Node needs. */
  start(words: readonly string[], env?: Readonly<Record<string, string>>): Running;
  /** Runs it in this process, which is much faster. */
  begin(...words: readonly string[]): Running;
  run(...words: readonly string[]): Promise<Ended>;
}

/** `holdfast` for a test's server, with its live key and operator token. The folder is its home and data directory. */
export function commandLine(
  { url, keys, databaseUrl, masterKeys }: App,
  folder: string,
  { allowPrivate = true, answers = [] }: { readonly allowPrivate?: boolean; readonly answers?: readonly string[] } = {},
): CommandLine {
  const usual = {
    HOLDFAST_URL: url,
    HOLDFAST_SECRET_KEY: keys.live,
    HOLDFAST_ADMIN_TOKEN: ADMIN,
    HOLDFAST_DATA_DIR: folder,
  };

  function begin(...words: readonly string[]): Running {
    const texts = { out: "", err: "" };
    const write = (name: "out" | "err") => (text: string) => {
      texts[name] += text;
      return true;
    };
    const interrupted = new AbortController();
    const left = [...answers];
    const pool = createPool({ url: databaseUrl, maxConnections: 1 });
    const program = createProgram({
      env: usual,
      out: write("out"),
      say: (line) => void write("err")(`${line}\n`),
      interrupted: () => interrupted.signal,
      openSender: () => createWebhookSender({ ...webhookLimits, allowPrivate: true }),
      dump: (wanted, line) => dumpOrganization(pool, builtInHooks.places, wanted, line),
      renewLogs: () => renewLogs(pool),
      restore: (lines, options) => restoreOrganization(pool, builtInHooks, lines, options),
      withDatabases: (work) =>
        work(operatorDatabases(pool, encryptionOf(masterKeys), databaseUrl, datasourceReach(allowPrivate))),
      async withSources(work) {
        const service = await readOwnService(pool);
        const encryption = encryptionOf(masterKeys);
        const reach = datasourceReach(allowPrivate);
        const places = await readPlacesOfAll({ db: pool, url: databaseUrl, service, encryption, reach });
        return await withSourceTools({ places, encryption, allowPrivate, modules: builtInHooks.inRounds }, work);
      },
      runningDatabase: () => databaseUrl,
      withTables: (work) => work(openTableTools(pool, builtInHooks, databaseUrl)),
      runOnce: async () => undefined,
      newSecretKey: () => newSecretToken(true),
      newMasterKey,
      folder,
      ask:
        answers.length === 0
          ? undefined
          : async (question) => {
              write("err")(`${question}\n`);
              return left.shift() ?? "";
            },
    });
    const settle = (command: Command): void => {
      command.exitOverride().configureOutput({ writeOut: write("out"), writeErr: write("err") });
      command.commands.forEach(settle);
    };
    settle(program);
    const ended = program
      .parseAsync(words, { from: "user" })
      .then(
        () => 0,
        (error: Error) => {
          if (error instanceof CommanderError) return error.exitCode;
          write("err")(`${error.message}\n`);
          return 1;
        },
      )
      .finally(() => pool.end())
      .then((code) => ({ code, ...texts }));
    return { texts, ended, interrupt: () => interrupted.abort() };
  }

  return {
    start: (words, env = {}) => startCommand(words, { cwd: PACKAGE, env: { HOME: folder, ...usual, ...env } }),
    begin,
    run: (...words) => begin(...words).ended,
  };
}

const encryptionOf = (masterKeys: readonly string[]) =>
  createEncryption(masterKeys.map((key) => Buffer.from(key, "base64")));

/** `holdfast` in a process of its own, with only the environment variables that Node needs and these. */
export function startCommand(
  words: readonly string[],
  {
    cwd,
    env,
    program = "cli.ts",
  }: { readonly cwd: string; readonly env: Readonly<Record<string, string>>; readonly program?: string },
): Running {
  const { flags, file } = sourceProgram(fileURLToPath(new URL(program, SOURCES)));
  const child = spawn(process.execPath, [...flags, file, ...words], {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH ?? "", ...env },
  });
  const texts = { out: "", err: "" };
  child.stdout.on("data", (chunk: Buffer) => {
    texts.out += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    texts.err += chunk.toString();
  });
  const ended = new Promise<Ended>((resolve) => child.on("close", (code) => resolve({ code, ...texts })));
  return { texts, ended, interrupt: () => void child.kill("SIGINT") };
}
