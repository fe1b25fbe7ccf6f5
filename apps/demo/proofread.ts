// An agent: goes through a deck slide by slide and corrects spelling and punctuation, each slide under a claim.
import { parseArgs } from "node:util";
import { createClient } from "@holdfast/sdk/node";
import { findServer } from "./agent/find-server.ts";
import { proofreadDeck } from "./agent/proofread-deck.ts";
import { untilReadable } from "./agent/until-readable.ts";
import type { ProofreadEvent } from "./src/agent/proofread-event.ts";
import { boardSchema } from "./src/schema.ts";

const help = `Proofreads a deck: spelling, quotes, dashes, dots and spaces, one slide after the other, each under a claim.

  npm run demo:proofread

  --deck <id>       the deck (default: the first)
  --server <url>    the server (default: the demo that runs here)
  --token <key>     a key for it (default: HOLDFAST_TOKEN, or the demo's own)
  --pace <ms>       how long it looks at a slide with mistakes (default: 2500); or several, with commas: at the first, the second …
  --patience <ms>   how long it waits at the end for a slide that a person edits (default: 60000)
  --for <who>       who has sent it, as user:ada: said with each change
  --json            print each step as a line of JSON, for programs
  --help

A slide that a person edits is skipped, and asked for again at the end. Take one over on the page, and the agent goes on.
`;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      deck: { type: "string" },
      server: { type: "string" },
      token: { type: "string" },
      pace: { type: "string" },
      patience: { type: "string" },
      for: { type: "string" },
      json: { type: "boolean" },
      help: { type: "boolean" },
    },
  });
  if (values.help) return print(help);
  const say = values.json ? () => {} : print;
  const report = values.json ? (event: ProofreadEvent) => print(JSON.stringify(event)) : () => {};
  const pace = {
    pacesMs: (values.pace ?? "2500").split(",").map((ms) => millis(ms, "--pace")),
    patienceMs: millis(values.patience ?? "60000", "--patience"),
  };
  const { url, token } = await findServer(values.server, values.token ?? process.env.HOLDFAST_TOKEN, "proofreader");
  const client = createClient({ schema: boardSchema, url, getToken: () => token });
  try {
    await untilReadable(client, url);
    const deck =
      values.deck === undefined
        ? client.models.document.list({ orderBy: "title", limit: 1 })[0]
        : client.models.document.get(values.deck);
    if (!deck)
      throw new Error(values.deck === undefined ? "There is no deck yet." : `There is no deck ${values.deck}.`);
    const { mended, left } = await proofreadDeck(client, deck.id, {
      ...pace,
      onBehalfOf: values.for,
      print: say,
      report,
    });
    say(`“${deck.title}”: ${count(mended)} mended${left > 0 ? `, ${count(left)} left to others` : ""}.`);
  } finally {
    await client.close();
  }
}

const count = (n: number): string => `${n} ${n === 1 ? "slide" : "slides"}`;

function millis(asked: string, name: string): number {
  if (!/^\d{1,6}$/.test(asked)) throw new Error(`${name} takes a number of milliseconds.`);
  return Number(asked);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
