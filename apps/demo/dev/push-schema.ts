import { readFile } from "node:fs/promises";
import { ask } from "./ask.ts";
import { referenceSchema } from "./project.ts";
import { secretKey } from "./server-secrets.ts";

/** Pushes the reference schema; pushing it again changes nothing. */
export async function pushReferenceSchema(serverUrl: string): Promise<void> {
  const schema: unknown = JSON.parse(await readFile(referenceSchema, "utf8"));
  await ask(serverUrl, await secretKey(), "POST", "/v1/schema", schema);
}
