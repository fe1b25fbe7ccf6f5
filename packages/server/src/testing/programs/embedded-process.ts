import { startEmbeddedPostgres } from "../../embedded-postgres/embedded-postgres.ts";

// A process that tests can kill: starts the embedded Postgres in the given directory, prints its address, and keeps
// running.
const [dataDir = ""] = process.argv.slice(2);
try {
  const { url, pid } = await startEmbeddedPostgres({ dataDir });
  process.stdout.write(`${JSON.stringify({ url, pid })}\n`);
  // An open handle keeps the process alive. Signals end it as usual.
  setInterval(() => {}, 60_000);
} catch (error) {
  process.stdout.write(`${JSON.stringify({ refused: (error as Error).message })}\n`);
}
