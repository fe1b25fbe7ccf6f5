import { createSender, type Sender } from "../stage/sender.ts";

/** How many are open altogether, whatever the number of servers, unless told otherwise. */
export const CONNECTIONS = 64;
const WARM_MS = 4_000;

const create = JSON.stringify({
  id: "s[<id>]",
  idempotencyKey: "k[<id>]",
  data: { deckId: "deck-1", title: "A slide" },
});

/** Commits per second by all connections together, each going through the organizations from another one on. */
export const rateOf = async (
  urls: readonly string[],
  tokens: readonly string[],
  seconds: number,
  connections = CONNECTIONS,
): Promise<number> => rateBy(await sendersOf(urls, tokens, connections), seconds);

/** The same by these senders, which are closed then. */
export async function rateBy(senders: readonly Sender[], seconds: number): Promise<number> {
  await sendFor(senders, WARM_MS);
  const rate = await sendFor(senders, seconds * 1_000);
  for (const sender of senders) sender.close();
  return rate;
}

export const sendersOf = (
  urls: readonly string[],
  tokens: readonly string[],
  connections = CONNECTIONS,
): Promise<Sender[]> =>
  Promise.all(
    Array.from({ length: connections }, (_, i) => {
      const begin = Math.floor((i * tokens.length) / connections);
      const own = [...tokens.slice(begin), ...tokens.slice(0, begin)];
      const wanted = own.map((token) => ({ path: "/v1/models/slide", token, body: create }));
      return createSender(urls[i % urls.length] as string, 1, wanted);
    }),
  );

export async function sendFor(senders: readonly Sender[], ms: number): Promise<number> {
  const begun = performance.now();
  const sent = await Promise.all(senders.map((sender) => sender.send(() => performance.now() < begun + ms)));
  const failed = sent.reduce((sum, one) => sum + one.failed, 0);
  if (failed > 0) throw new Error(`${failed} requests failed.`);
  return (sent.reduce((sum, one) => sum + one.answers, 0) * 1_000) / (performance.now() - begun);
}
