import { good, type SendRequest } from "../../support/requester.ts";

const BATCH = 100;
const BULK = 1_000;

/** Creates `count` slides, a hundred per commit. */
export async function fill(request: SendRequest, count: number, prefix: string): Promise<void> {
  for (let made = 0; made < count; made += BULK) {
    const commits = [];
    for (let from = made; from < Math.min(count, made + BULK); from += BATCH)
      commits.push({
        clientTxId: `${prefix}-${from}`,
        operations: slides(prefix, from, Math.min(count, from + BATCH)),
      });
    const { data } = good(await request("POST", "/v1/commits/bulk", { commits })) as { data: { httpStatus: number }[] };
    if (data.some(({ httpStatus }) => httpStatus !== 200)) throw new Error(JSON.stringify(data));
  }
}

const slides = (prefix: string, from: number, to: number): object[] =>
  Array.from({ length: to - from }, (_, n) => ({
    action: "create",
    model: "slide",
    id: `${prefix}-${from + n}`,
    data: { deckId: "d1", title: `Slide ${from + n} – ü`, order: n, notes: "n".repeat(60) },
  }));
