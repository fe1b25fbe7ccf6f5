// An agent: reads a Markdown file and writes it as a deck, while people watch.
import { readFile } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { parseArgs } from "node:util";
import { createClient } from "@holdfast/sdk/node";
import { findServer } from "./agent/find-server.ts";
import { importDeck } from "./agent/import-deck.ts";
import type { ImportPlan } from "./agent/plan-import.ts";
import { createProgress } from "./agent/progress.ts";
import { readPlan } from "./agent/read-plan.ts";
import { untilReadable } from "./agent/until-readable.ts";
import { schema } from "./src/schema.ts";

const help = `Imports a Markdown file as a deck: one slide for each section.

  npm run demo:import -- path/to/file.md

  --server <url>    the server (default: the demo that runs here)
  --token <key>     a key for it (default: HOLDFAST_TOKEN, or the demo's own)
  --pace <ms>       how long to wait after each passage (default: 500, less for long files)
  --copy <n>        import the file once more, as its copy number n (default: 1, the file itself)
  --help

The same file imported again changes nothing. An import that was cut off goes on where it stopped.
`;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      server: { type: "string" },
      token: { type: "string" },
      pace: { type: "string" },
      copy: { type: "string" },
      help: { type: "boolean" },
    },
  });
  if (values.help) return print(help);
  const [path] = positionals;
  if (!path || positionals.length > 1) throw new Error(`One file, please.\n\n${help}`);

  const plan = await readFilePlan(path, copyOf(values.copy));
  const { url, token, pageUrl } = await findServer(
    values.server,
    values.token ?? process.env.HOLDFAST_TOKEN,
    "importer",
  );
  const client = createClient({ schema, url, getToken: () => token });
  const total = plan.passages.length;
  const progress = createProgress(total, print);
  try {
    await untilReadable(client, url);
    const outcome = await importDeck(client, plan, { paceMs: paceOf(values.pace, total), at: progress.at });
    progress.end();
    const slides = plan.passages.filter((passage) => passage.slide).length;
    print(
      outcome === "already-there"
        ? `“${plan.document.title}” has been imported before; nothing to do.`
        : `Imported “${plan.document.title}”: ${slides} slides from ${total} passages.`,
    );
    if (pageUrl) print(`${pageUrl}/?deck=${plan.document.id}`);
  } finally {
    progress.end();
    await client.close();
  }
}

async function readFilePlan(path: string, copy: number): Promise<ImportPlan> {
  // npm runs scripts in the project's folder; the path was written for the folder the person is in.
  const file = resolve(process.env.INIT_CWD ?? "", path);
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new Error(error.code === "ENOENT" ? `There is no file ${file}.` : `${file} cannot be read (${error.code}).`);
  });
  return readPlan(basename(file), bytes, copy);
}

const PACE_MS = 500;
const LONGEST_MS = 20_000;

/** Slow enough to watch, and for a long file quick enough to wait for. */
function paceOf(asked: string | undefined, passages: number): number {
  if (asked === undefined) return Math.min(PACE_MS, LONGEST_MS / passages);
  if (!/^\d{1,5}$/.test(asked)) throw new Error("--pace takes a number of milliseconds.");
  return Number(asked);
}

function copyOf(asked = "1"): number {
  if (!/^[1-9]\d{0,3}$/.test(asked)) throw new Error("--copy takes a number from 1 to 9999.");
  return Number(asked);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
