// npm run dev: the Holdfast server and the page, in one terminal. Ctrl-C ends both.
import { startProgram, startServer } from "./start.mjs";

const serverUrl = await startServer();
process.env.HOLDFAST_URL = serverUrl;
await import("./setup.mjs");

const port = process.env.PORT ?? "3000";
startProgram("next/dist/bin/next", ["dev", "--hostname", "127.0.0.1", "--port", port]);
console.log(`
  Page    http://127.0.0.1:${port}
  Server  ${serverUrl}/docs

  Ctrl-C ends both.
`);
