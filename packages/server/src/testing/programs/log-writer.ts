import { openServerLog } from "../../server-log.ts";

// Once it hears a line: writes more than a pipe holds to the server's log, and exits with what its reader has not taken.
const log = openServerLog({ logLevel: "info", logFormat: process.argv[2] === "text" ? "text" : "json" });
process.stdin.once("data", () => {
  if (process.argv[2] === "json") for (let n = 0; n < 20_000; n++) log.info("x".repeat(100));
  else log.info("x");
  process.exit(0);
});
