// Runs SQL in the demo's database, for machines without psql. Slides are the rows of public.slides.
import { parseArgs } from "node:util";
import { runSql } from "./dev/run-sql.ts";

const help = `Runs SQL in the database of a running demo. What it changes in public.slides is on the board at once.

  npm run demo:sql -- "select id, title from public.slides"
  npm run demo:sql -- "update public.slides set title = upper(title)"

With psql on your machine: psql "$(npm run -s holdfast -- databases url)"
`;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ options: { help: { type: "boolean" } }, allowPositionals: true });
  if (values.help) return print(help);
  const [statement, ...more] = positionals;
  if (statement === undefined || more.length > 0) throw new Error(`Give one statement in quotes.\n\n${help}`);
  for (const { command, rowCount, rows } of await runSql(statement)) {
    if (rows.length > 0) console.table(rows);
    print([command, rowCount].filter((one) => one !== null).join(" "));
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
