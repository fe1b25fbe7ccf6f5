import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { sourceProgram } from "@holdfast/server/testing/source-program";
import { trackerChanges } from "../lists/tracker.ts";
import { percentile, summarize } from "../report/statistics.ts";
import type { Row } from "../report/table.ts";
import { installPeers } from "./packages.ts";
import type { Library, PeerReply, PeerRequest } from "./peer-process.ts";

const PROGRAM = fileURLToPath(new URL("peer-process.ts", import.meta.url));
const WARM_UP = 100;
const CHANGES = 200;
const WAYS = ["own", "arrives"] as const;
const LIBRARIES: readonly Library[] = ["holdfast", "tanstack", "zero"];
const TANSTACK = "@tanstack/db";
const ZERO = "@rocicorp/zero";
/** Named, because npm would take an older one that says that it runs in Node 20. This one does too. */
const ZERO_VERSION = "1.9.0";

/** What the figures do not say by themselves. It stands above the table. */
const NOTES = `50 lists of issues, filtered, sorted and cut, each with its project, labels and three latest comments, over the same 100,000 rows; each library in a
process of its own, in turns. Milliseconds from the call until the listeners of all lists have the new result, after ${WARM_UP} changes that do not count, then ${CHANGES} of each kind and
run. After each turn the lists of all three must be equal.

- What each does meanwhile: Holdfast queues the change, stores it (in memory here) and reads all 50 lists each time, each with the same query object, as its hooks do. TanStack DB has local-only collections: no queue, no
  storage; for changes that arrive, a collection with a \`sync\` of its own. Zero runs its local mutators with storage in memory and no server, so its writes stay pending. For changes that
  arrive Zero exports nothing that runs without its server: there only its engine for queries is measured, imported by its file, without its store.
- Neither TanStack DB nor Zero can relate a list of ids: both have a table between issues and labels, of 38,000 more rows. Zero cannot sort labels through that table, and leaves them unsorted.
- Memory is \`heapUsed\` after a collection, less what was in use before the rows were loaded: rows, indexes and mounted lists. Holdfast's rows are copies of those of the server in its process. Zero's memory includes the writes that loaded its rows, which stay pending.`;

type Way = (typeof WAYS)[number];

interface Peer {
  readonly library: Library;
  readonly way: Way;
  readonly name: string;
  readonly child: ChildProcess;
}

const NAMES: Readonly<Record<Library, string>> = { holdfast: "Holdfast", tanstack: "TanStack DB", zero: "Zero" };
const nameOf = (library: Library, way: Way) =>
  library === "zero" && way === "arrives" ? "Zero's engine" : NAMES[library];

interface Asked {
  readonly rounds: number;
  print(line: string): void;
}

/** What a change costs mounted lists, beside two other libraries with incremental queries. */
export async function measureQueryPeers({
  rounds,
  print,
}: Asked): Promise<{ readonly notes: string; readonly rows: Row[] }> {
  const tested = JSON.parse(
    readFileSync(new URL("../../../packages/tanstack-db/package.json", import.meta.url), "utf8"),
  );
  const installed = await installPeers([`${TANSTACK}@${tested.devDependencies[TANSTACK]}`, `${ZERO}@${ZERO_VERSION}`]);
  const figures = new Figures();
  try {
    const peers = [await installed.described(TANSTACK), await installed.described(ZERO)];
    const versions = peers.map(({ name, version, license }) => `${name} ${version} (${license})`).join(", ");
    print(versions);
    for (let round = 0; round < rounds; round++) await measureRound(installed.folder, figures, print);
    const failed = [...figures.failures].map((failure) => `\n- Not measured: ${failure}`).join("");
    return { notes: `${versions}.\n\n${NOTES}${failed}`, rows: figures.rows() };
  } finally {
    await installed.remove();
  }
}

/** All libraries, each in processes that end with the round. */
async function measureRound(folder: string, figures: Figures, print: Asked["print"]): Promise<void> {
  const children: ChildProcess[] = [];
  try {
    const peers: Peer[] = [];
    for (const way of WAYS) {
      const shown: string[] = [];
      for (const library of LIBRARIES) {
        const child = start(library, way, folder);
        children.push(child);
        const name = `${nameOf(library, way)} (${way})`;
        const reply = await ask(child, { ask: "mount" });
        if (reply.reply !== "mounted") {
          print(`${name} cannot run`);
          figures.failures.add(`${name}: ${reply.reply === "failed" ? reply.reason : reply.reply}`);
          continue;
        }
        print(`${name}: mounted in ${reply.mountMs.toFixed(0)} ms, ${reply.heapMb.toFixed(0)} MB`);
        shown.push(reply.shown);
        figures.note(`${library} ${way} mount`, reply.mountMs);
        figures.note(`${library} ${way} heap`, reply.heapMb);
        peers.push({ library, way, name, child });
      }
      checkEqual(shown, `mounted (${way})`);
    }
    for (const kind of trackerChanges.keys())
      for (const way of WAYS)
        await measureChanges(
          peers.filter((peer) => peer.way === way),
          kind,
          figures,
          print,
        );
  } finally {
    for (const child of children) child.kill();
  }
}

/** One kind of change, in each library after the other. */
async function measureChanges(peers: readonly Peer[], kind: number, figures: Figures, print: Asked["print"]) {
  const what = trackerChanges[kind]?.what ?? "";
  const from = kind * (WARM_UP + CHANGES);
  const shown: string[] = [];
  for (const { child, library, name, way } of peers) {
    await askForChanges(child, { ask: "changes", kind, from, count: WARM_UP });
    const reply = await askForChanges(child, { ask: "changes", kind, from: from + WARM_UP, count: CHANGES });
    const took = [...reply.delays].sort((a, b) => a - b);
    shown.push(reply.shown);
    const [middle, high] = [percentile(took, 0.5), percentile(took, 0.99)];
    figures.note(`${library} ${way} ${kind} p50`, middle);
    figures.note(`${library} ${way} ${kind} p99`, high);
    print(`${name}: ${what}: p50 ${middle.toFixed(3)} ms, p99 ${high.toFixed(3)} ms`);
  }
  checkEqual(shown, what);
}

async function askForChanges(child: ChildProcess, request: PeerRequest) {
  const reply = await ask(child, request);
  if (reply.reply !== "changed") throw new Error(`A library failed: ${JSON.stringify(reply)}`);
  return reply;
}

/** What was measured, by name: one value for each round. */
class Figures {
  readonly failures = new Set<string>();
  readonly #runs = new Map<string, number[]>();

  note(name: string, value: number): void {
    this.#runs.set(name, [...(this.#runs.get(name) ?? []), value]);
  }

  rows(): Row[] {
    const said = { own: "own write", arrives: "arrives" };
    return WAYS.flatMap((way) => {
      const title = (library: Library) => `${nameOf(library, way)}, ${said[way]}`;
      return [
        ...LIBRARIES.flatMap((library) => [
          this.#row(library, `${way} mount`, `${title(library)}: all lists mounted`, "ms"),
          // In the process of Zero's engine the benchmark keeps the earlier rows, so its memory is not Zero's alone.
          way === "own"
            ? this.#row(library, `${way} heap`, `${title(library)}: memory with all lists mounted`, "MB")
            : [],
        ]),
        ...trackerChanges.flatMap(({ what }, kind) =>
          LIBRARIES.flatMap((library) => [
            this.#row(library, `${way} ${kind} p50`, `${title(library)}: ${what}, p50`, "ms"),
            this.#row(library, `${way} ${kind} p99`, "the same, p99", "ms"),
          ]),
        ),
      ].flat();
    });
  }

  #row(library: Library, figure: string, what: string, unit: string): Row[] {
    const [runs, ours] = [this.#runs.get(`${library} ${figure}`), this.#runs.get(`holdfast ${figure}`)];
    if (!runs) return [];
    const summary = summarize(runs);
    if (library === "holdfast" || !ours) return [{ what, unit, runs: summary }];
    const share = (summary.median / summarize(ours).median).toFixed(2);
    return [{ what, unit, runs: summary, against: `${share} of Holdfast` }];
  }
}

function start(library: Library, way: string, folder: string): ChildProcess {
  const { flags, file } = sourceProgram(PROGRAM);
  return fork(file, [library, way, folder], {
    execArgv: [...flags, "--expose-gc"],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", NODE_ENV: "production" },
  });
}

async function ask(child: ChildProcess, request: PeerRequest): Promise<PeerReply> {
  const stop = new AbortController();
  try {
    child.send(request);
    return await Promise.race([
      once(child, "message", stop).then(([reply]) => reply as PeerReply),
      once(child, "exit", stop).then(
        ([code]): PeerReply => ({ reply: "failed", reason: `The process ended with ${code}.` }),
      ),
    ]);
  } finally {
    stop.abort();
  }
}

function checkEqual(shown: readonly string[], when: string): void {
  if (new Set(shown).size > 1) throw new Error(`The libraries show different lists after: ${when}`);
}
