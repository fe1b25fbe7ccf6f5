import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Args, readArgs, USAGE } from "./args.ts";

const args = readArgs(process.argv.slice(2));
if (typeof args === "string") {
  process.stdout.write(args === "" ? USAGE : `${args}\n\n${USAGE}`);
  process.exitCode = args === "" ? 0 : 1;
} else process.exitCode = await fuzz(args);

async function fuzz({ requests, connections, seed = Math.floor(Math.random() * 2 ** 31) }: Args): Promise<number> {
  // Loaded only now, so that `--help` answers at once.
  const [{ startEmbeddedPostgres }, { report }, { run }] = await Promise.all([
    import("@holdfast/server"),
    import("./report.ts"),
    import("./run.ts"),
  ]);
  const dataDir = mkdtempSync(join(tmpdir(), "holdfast-fuzz-"));
  const postgres = await startEmbeddedPostgres({ dataDir });
  const print = (line: string) => void process.stderr.write(`fuzz: ${line}\n`);
  try {
    const findings = await run({ databaseUrl: postgres.url, requests, connections, seed, print });
    process.stdout.write(report(findings));
    return findings.violations.length > 0 ? 1 : 0;
  } finally {
    await postgres.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
