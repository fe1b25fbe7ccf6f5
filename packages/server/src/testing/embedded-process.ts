import { startEmbeddedPostgres } from "../embedded-postgres/embedded-postgres.ts";

// A server that can be killed: starts the embedded Postgres on the directory it is given, says where it is, and stays.
const [dataDir = ""] = process.argv.slice(2);
try {
  const { url, pid } = await startEmbeddedPostgres({ dataDir });
  process.stdout.write(`${JSON.stringify({ url, pid })}\n`);
  // An open handle; signals end the process as they would any other.
  setInterval(() => {}, 60_000);
} catch (error) {
  process.stdout.write(`${JSON.stringify({ refused: (error as Error).message })}\n`);
}
