import type { FaultEnvironment } from "../support/fault-environment.ts";
import { good } from "../support/requester.ts";
import type { WriterPlan } from "../support/writers.ts";

const RECORDS_SHARED = 5;

/** Secret keys for the writers of the first organization, and the records that all of them write. */
export async function prepareWriters(
  { operator, servers, key, request }: FaultEnvironment,
  count: number,
): Promise<WriterPlan> {
  const { organization } = good(await request("GET", "/v1/identity"));
  for (let n = 0; n < RECORDS_SHARED; n++)
    good(await request("POST", "/v1/models/document", { id: `shared${n}`, data: { title: "" } }));
  const keys = [key];
  while (keys.length < count)
    keys.push(String(good(await operator("POST", "/v1/secret_keys", { organization, livemode: true })).token));
  return { servers, keys, operationsOf };
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
