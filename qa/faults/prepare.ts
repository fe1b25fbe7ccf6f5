import { Agent } from "node:http";
import type { KillableServer } from "../support/killable-server.ts";
import { sendJson } from "../support/send-json.ts";
import type { WriterPlan } from "../support/writers.ts";

const RECORDS_SHARED = 5;

/** Secret keys for the writers of an embedded server, and the records that all of them write. */
export async function prepareWriters(
  server: KillableServer,
  count: number,
  begin: (token: string) => Promise<void>,
): Promise<WriterPlan> {
  const agent = new Agent();
  const post = (path: string, token: string, body: object) =>
    sendJson({ agent, method: "POST", url: `${server.url}${path}`, token, body });
  const url = `${server.url}/v1/organizations`;
  const list = await sendJson({ agent, method: "GET", url, token: server.adminToken });
  const organization = (list.body.data as { id: string }[])[0]?.id;
  const keys: string[] = [];
  for (let n = 0; n < count; n++) {
    const { body } = await post("/v1/secret_keys", server.adminToken, { organization, livemode: true });
    keys.push(String(body.token));
  }
  await begin(keys[0] as string);
  for (let n = 0; n < RECORDS_SHARED; n++)
    await post("/v1/models/document", keys[0] as string, { id: `shared${n}`, data: { title: "" } });
  return { servers: [server], keys, operationsOf };
}

/** A record of its own, a shared one, both; and now and then an earlier one of its own is deleted. */
const operationsOf: WriterPlan["operationsOf"] = ({ writer, n, name }) => {
  const own = { action: "create", model: "slide", id: name, data: { deckId: `d${n % 4}`, title: name } } as const;
  const id = `shared${(writer + n) % RECORDS_SHARED}`;
  const shared = { action: "update", model: "document", id, data: { title: name } } as const;
  const before = { action: "delete", model: "slide", id: `w${writer}-${n - 4}` } as const;
  if (n % 4 === 0) return [own];
  if (n % 4 === 1) return [own, shared];
  if (n % 4 === 2) return [shared];
  return n < 4 ? [own] : [own, before];
};
