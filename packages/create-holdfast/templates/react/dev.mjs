// npm run dev: the Holdfast server and the page, in one terminal. Ctrl-C ends both.
import { onEnd, startServer } from "./start.mjs";

const serverUrl = await startServer();
process.env.VITE_HOLDFAST_URL = serverUrl;

const { createServer } = await import("vite");
const vite = await createServer();
onEnd(() => vite.close());
await vite.listen(Number(process.env.PORT ?? 5173));
const [pageUrl = ""] = vite.resolvedUrls?.local ?? [];

console.log(`
  Ann     ${pageUrl}?user=ann
  Ben     ${pageUrl}?user=ben
  Server  ${serverUrl}/docs

  Ctrl-C ends both.
`);
