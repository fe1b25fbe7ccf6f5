import { startTestPostgres } from "../test-postgres.ts";

// A Postgres for tests whose runner cannot start one within itself: prints its template database as one line, and runs
// until its standard input ends, as it does when the runner ends in any way.
const { template, stop } = await startTestPostgres();
process.stdout.write(`${JSON.stringify(template)}\n`);
process.stdin.resume().once("end", () => void stop());
