// npm run dev: the Holdfast server on your database, and the page, in one terminal. Ctrl-C ends both.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { onEnd, startServer } from "./start.mjs";

const ENV = ".env";
// What the environment sets already stays.
if (existsSync(ENV)) process.loadEnvFile(ENV);
if (!process.env.DATABASE_URL) {
  console.error(`There is no DATABASE_URL. Write the address of your database into ${ENV}, and run this again.`);
  process.exit(1);
}
if (!existsSync("schema.ts")) {
  // Asks which tables should be live, says what it will do, and writes their models.
  const init = [join("node_modules", "@holdfast", "server", "dist", "holdfast.js"), "init"];
  const { status } = spawnSync(process.execPath, init, { stdio: "inherit" });
  if (status !== 0) {
    console.error('Without a terminal, choose the tables beforehand: npx holdfast init --tables "public.tasks" --yes');
    process.exit(status ?? 1);
  }
  console.log("\nThis command goes on, and starts the server itself.");
}
// The keys that it has written.
if (existsSync(ENV)) process.loadEnvFile(ENV);

const serverUrl = await startServer();
process.env.VITE_HOLDFAST_URL = serverUrl;

const { createServer } = await import("vite");
const vite = await createServer();
onEnd(() => vite.close());
await vite.listen(Number(process.env.PORT ?? 5173));
const [pageUrl = ""] = vite.resolvedUrls?.local ?? [];

console.log(`
  Page    ${pageUrl}
  Server  ${serverUrl}/docs

  Change a row in SQL: the page shows it at once. Ctrl-C ends both.
`);
