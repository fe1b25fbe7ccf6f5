// The whole demo: the server on its own Postgres, the page, and an agent that imports the sample deck.
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { PreviewServer } from "vite";
import { changeDemoFile, readDemoFile } from "./dev/demo-file.ts";
import { freePort } from "./dev/free-port.ts";
import { prepareModels } from "./dev/prepare-models.ts";
import { dataDirectory, importProgram, nodeWords, sampleFile } from "./dev/project.ts";
import { type RunningMirror, runMirror } from "./dev/run-mirror.ts";
import { type RunningServer, runServer } from "./dev/run-server.ts";
import { addressOf, buildPage, servePage } from "./dev/serve-page.ts";

/** In a demo, the server gives up after minutes; usually it takes 27 hours. */
const DEMO_SCHEDULE = "0,2000,5000,10000,15000,30000,60000,60000";

const help = `Starts the demo: a server, a slide board, an agent that imports a sample deck, and a mirror fed by webhooks.

  npm start [-- --no-import]

  --no-import   do not import the sample deck
  PORT          the server's port (default 8787, or the next free port)
  DEMO_PORT     the page's port (default 5173, or the next free port)
  HOLDFAST_DATA_DIR
                directory for all data (default .holdfast); the next start uses it again
  HOLDFAST_WEBHOOK_SCHEDULE
                waits before the eight attempts to deliver to the mirror, in ms (default ${DEMO_SCHEDULE})
`;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

let server: RunningServer | undefined;
let pageServer: PreviewServer | undefined;
let agent: ChildProcess | undefined;
let mirror: RunningMirror | undefined;
let isStopping = false;

async function start(): Promise<void> {
  const { values } = parseArgs({ options: { help: { type: "boolean" }, "no-import": { type: "boolean" } } });
  if (values.help) return print(help);
  const running = await runningDemo();
  if (running) throw new Error(`The demo is already running at ${running} with this data (${dataDirectory()}).`);

  print("Starting the server …");
  // A run of the tests builds the page once, for all that it starts.
  const givenPage = process.env.HOLDFAST_TEST_PAGE;
  const pageFolder = givenPage ?? join(dataDirectory(), "page");
  const built = givenPage ? Promise.resolve() : buildPage(pageFolder);
  built.catch(() => {});
  const schedule = process.env.HOLDFAST_WEBHOOK_SCHEDULE || DEMO_SCHEDULE;
  server = await runServer(await freePort("PORT", 8787), {
    HOLDFAST_WEBHOOK_SCHEDULE: schedule,
    // The mirror listens on this machine, without TLS.
    HOLDFAST_WEBHOOK_ALLOW_PRIVATE: "1",
  });
  server.onEnd((why) => {
    if (!isStopping) void stop(1, why);
  });

  const { url: serverUrl } = server;
  // With a database or a schema of your own, the models are yours too.
  const isOurs = !process.env.DATABASE_URL && !process.env.HOLDFAST_SCHEMA;
  if (isOurs) await prepareModels(serverUrl);
  await changeDemoFile((file) => ({ ...file, serverUrl }));
  mirror = runMirror();
  await built;
  const scheduleMs = schedule.split(",").map(Number);
  pageServer = await servePage(pageFolder, await freePort("DEMO_PORT", 5173), mirror, scheduleMs);
  const pageUrl = addressOf(pageServer);
  await changeDemoFile((file) => ({ ...file, pageUrl, pid: process.pid }));
  // Now that the page can be opened: its visitor sees the deck grow.
  if (!values["no-import"]) agent = startAgent();
  print(
    `\n  Open ${pageUrl}/?together=ada,ben (two people side by side)\n  or   ${pageUrl} (one person)\n\n  Press Ctrl-C to stop everything. Your data is kept.\n`,
  );
}

/** The address of a demo that runs on the same data, if one does: two servers cannot share it. */
async function runningDemo(): Promise<string | undefined> {
  const { pageUrl, pid } = await readDemoFile();
  if (!pageUrl || !pid || !isAlive(pid)) return undefined;
  const answers = await fetch(pageUrl).then(
    (answer) => answer.ok,
    () => false,
  );
  return answers ? pageUrl : undefined;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** A process of its own, as an agent is: it has its own token and reaches the server as every client does. */
function startAgent(): ChildProcess {
  const child = spawn(process.execPath, nodeWords(importProgram, sampleFile, "--pace", "700"), {
    stdio: ["ignore", "ignore", "inherit"],
  });
  child.once("error", (error) => print(`The agent could not start: ${error.message}`));
  return child;
}

async function stop(code: number, why?: string): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  if (why) process.stderr.write(`${why}\n`);
  agent?.kill("SIGTERM");
  await pageServer?.close();
  await mirror?.stop();
  await server?.stop();
  await changeDemoFile(({ pid: _, ...file }) => file).catch(() => {});
  process.exit(code);
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => void stop(0));
start().catch((error: unknown) => stop(1, error instanceof Error ? error.message : String(error)));
