import type { ModelSchema } from "../protocol/schema/model-schema.ts";
import { createTestServer, type TestClientOptions, type TestServer } from "./test-server.ts";

/** Lets time pass, a second at a time unless told otherwise. */
export const passing =
  ({ clock, settle }: Pick<TestServer<ModelSchema>, "clock" | "settle">) =>
  async (times: number, stepMs = 1_000): Promise<void> => {
    for (let i = 0; i < times; i++) {
      clock.advance(stepMs);
      await settle();
    }
  };

/** A server in memory, and a client of it that is ready. `open` opens others. */
export async function startClient<const S extends ModelSchema>(schema: S, options: TestClientOptions = {}) {
  const own = createTestServer(schema);
  const made = own.client(options);
  await made.client.ready();
  return { ...own, ...made, open: own.client, pass: passing(own) };
}
