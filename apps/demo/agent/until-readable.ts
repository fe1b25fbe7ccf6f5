import type { SyncClient } from "@holdfast/sdk/node";
import type { Schema } from "../src/schema.ts";

const PATIENCE_MS = 15_000;

/** Resolves when the client has read the server's rows: only then it can tell what was imported before. */
export async function untilReadable(client: SyncClient<Schema>, url: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => done(() => reject(new Error(`${url} did not answer in time.`))), PATIENCE_MS);
    const done = (settle: () => void) => {
      clearTimeout(timer);
      stop();
      settle();
    };
    const look = () => {
      const { name, reason } = client.status();
      if (name === "online") done(resolve);
      if (name === "needs-auth") done(() => reject(new Error(`${url} refused the key. ${reason ?? ""}`.trim())));
    };
    const stop = client.subscribe(look);
    look();
  });
}
