import type { JsonObject } from "@holdfast/sdk/protocol";
import type { ModelServer } from "@holdfast/sdk/testing";

/** Creates so many records, a thousand in a commit. */
export function fillModel(
  server: Pick<ModelServer, "commit">,
  model: string,
  rows: number,
  record: (n: number) => { readonly id: string; readonly data: JsonObject },
): void {
  for (let from = 0; from < rows; from += 1_000) {
    const numbers = Array.from({ length: 1_000 }, (_, n) => from + n);
    const operations = numbers.map((n) => ({ action: "create" as const, model, ...record(n) }));
    server.commit({ clientTxId: `fill-${from}`, operations }, "filler");
  }
}
