import { anySeed, runProgram } from "../support/program.ts";

await runProgram({
  name: "fuzz",
  says: `Starts a server on an embedded Postgres in a temporary directory, and sends it requests and frames that are generated
from its own tables: valid ones, and ones with one to three errors. Every response is compared with the description and
the rules. If one violates them, the program exits with 1 and prints the smallest such request.`,
  options: {
    requests: { says: "number of requests", count: [1, 2 ** 31 - 1], default: 50_000 },
    seed: {
      says: "repeats the same requests; with one connection they also arrive in the same order",
      count: [0, 2 ** 31 - 1],
    },
    connections: { says: "requests in flight at the same time", count: [1, 256], default: 16 },
  },
  async run({ requests, connections, seed = anySeed() }, print) {
    const [{ startEmbeddedPostgres }, { report }, { run }] = await Promise.all([
      import("@holdfast/server"),
      import("./report.ts"),
      import("./run.ts"),
    ]);
    const postgres = await startEmbeddedPostgres({ throwaway: true });
    try {
      const findings = await run({ databaseUrl: postgres.url, requests, connections, seed, print });
      process.stdout.write(report(findings));
      return findings.violations.length === 0;
    } finally {
      await postgres.stop();
    }
  },
});
