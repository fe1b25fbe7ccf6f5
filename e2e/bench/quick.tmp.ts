import { mkdtempSync, rmSync } from "node:fs";
import { endProgram, firstLine, startProgram, wholeOutput } from "/work/main/e2e/bench/processes.ts";
import { startEmbeddedPostgres } from "/work/main/packages/server/src/db/embedded.ts";

const dir = mkdtempSync("/tmp/hfb-");
const pgs = await startEmbeddedPostgres({ dataDir: dir });
const base = new URL("file:///work/main/e2e/bench/");
const body = JSON.stringify({
  id: "s[<id>]",
  idempotencyKey: "k[<id>]",
  data: { deckId: "deck-1", title: "A slide", order: 3, notes: "n".repeat(850) },
});
const load = async (plan: any) => wholeOutput<any>(startProgram(new URL("load.ts", base), [JSON.stringify(plan)]));
const echo = startProgram(new URL("echo.ts", base));
const e = await firstLine<any>(echo);
const srv = startProgram(new URL("server.ts", base), [JSON.stringify({ databaseUrl: pgs.url, organizations: 1 })]);
const s = await firstLine<any>(srv);
for (let i = 0; i < 2; i++) {
  console.log("echo", await load({ url: e.url, connections: 64, seconds: 3, requests: [{ path: "/", body }] }));
  console.log(
    "lane",
    await load({
      url: s.url,
      connections: 64,
      seconds: 3,
      requests: [{ path: "/v1/models/slide", token: s.tokens[0], body }],
    }),
  );
}
await endProgram(echo);
await endProgram(srv);
await pgs.stop();
rmSync(dir, { recursive: true });
