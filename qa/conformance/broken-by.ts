import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { runDatasource } from "../../packages/conformance/src/datasource/run-datasource.ts";

/** Runs the kit for datasources against a handler. Returns the sentences that it does not keep. */
export async function brokenBy(
  handler: RequestListener,
  source: Omit<Parameters<typeof runDatasource>[0], "url">,
): Promise<string[]> {
  const server = createServer(handler).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const results = await runDatasource({ ...source, url });
    return results.flatMap(({ says, failure }) => (failure === undefined ? [] : [says]));
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
