import { createClientOn } from "@holdfast/sdk/platform";
import { memoryStorage } from "@holdfast/sdk/testing";
import { expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { until } from "../../scripts/testing/until.ts";
import { schema } from "./people.ts";
import { startTenants } from "./tenants.ts";

const { url, organization, tenant } = await startTenants();
const { token } = await tenant(await organization("ours"), true);

/** The requests and the calls by which a client sends a write. */
async function waysOfAWrite(fetch: typeof globalThis.fetch | undefined) {
  const requests = vi.spyOn(globalThis, "fetch");
  const calls: string[] = [];
  class NotingSocket extends WebSocket {
    override send(text: string): void {
      const { frame, name } = JSON.parse(text) as { frame: string; name: string };
      if (frame === "call") calls.push(name);
      super.send(text);
    }
  }
  const client = createClientOn(
    { storage: async () => memoryStorage(), WebSocket: NotingSocket, fetch },
    { schema, url, getToken: token },
  );
  await until(() => expect(client.status().live).toBe(true));
  requests.mockClear();
  await client.models.slide.create({ deckId: "d1", title: "A" }).receipt;
  await client.close();
  const paths = requests.mock.calls.map(([request]) => new URL((request as Request).url).pathname);
  requests.mockRestore();
  return { requests: paths, calls };
}

test("[N48] a client on another platform sends its writes on its stream, and over HTTP if the app gives its own `fetch`", async () => {
  expect(await waysOfAWrite(undefined)).toEqual({ requests: [], calls: ["commitBulk"] });
  const own: typeof fetch = (input, init) => globalThis.fetch(input, init);
  expect(await waysOfAWrite(own)).toEqual({ requests: ["/v1/commits/bulk"], calls: [] });
});
