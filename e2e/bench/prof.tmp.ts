import { mkdtempSync, rmSync } from "node:fs";
import { spawn } from "node:child_process";
import { startEmbeddedPostgres } from "../../packages/server/src/db/embedded.ts";
import { startProgram, firstLine, wholeOutput, endProgram } from "./processes.ts";
const dir = mkdtempSync("/tmp/hfb-");
const pgs = await startEmbeddedPostgres({ dataDir: dir, settings: process.env.PGS ? JSON.parse(process.env.PGS) : {} });
if (process.env.PGS) { const pg = (await import("pg")).default; const c = new pg.Client({ connectionString: pgs.url }); await c.connect(); await c.query("create extension if not exists pg_stat_statements"); await c.end(); }
const base = new URL("./", import.meta.url);
const body = JSON.stringify({ id: "s[<id>]", idempotencyKey: "k[<id>]", data: { deckId: "deck-1", title: "A slide", order: 3, notes: "n".repeat(850) } });
const load = async (plan: any) => wholeOutput<any>(startProgram(new URL("load.ts", base), [JSON.stringify(plan)]));
const srv = spawn(process.execPath, ["--cpu-prof", "--cpu-prof-dir=/tmp/prof", "--conditions=holdfast-source", "--import", "tsx", new URL("server.ts", base).pathname, JSON.stringify({ databaseUrl: pgs.url, organizations: 1 })], { stdio: ["ignore", "pipe", "inherit"] }); const s = await firstLine<any>(srv);
console.log("lane", await load({ url: s.url, connections: 64, seconds: 4, requests: [{ path: "/v1/models/slide", token: s.tokens[0], body }] }));
if (process.env.PGS) { const pg = (await import("pg")).default; const c = new pg.Client({ connectionString: pgs.url }); await c.connect(); console.table((await c.query("select calls, round(mean_exec_time::numeric,3) mean, round(total_exec_time::numeric) total, shared_blks_hit/calls hit, wal_bytes/calls wal, left(query,60) q from pg_stat_statements where calls>100 order by total_exec_time desc limit 12")).rows); await c.end(); }
await endProgram(srv); await pgs.stop(); rmSync(dir, { recursive: true });
