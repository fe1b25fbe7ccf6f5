import { percentile } from "../report/statistics.ts";
import { createSender } from "../stage/sender.ts";
import type { ServerReady } from "../stage/server.ts";

export const COMMITS_PER_SECOND = 100;

/** One tenant's commits at an even pace, however long their answers take. */
export async function commitSteadily({ url }: ServerReady, token: string, isOver: () => boolean) {
  const body = JSON.stringify({ id: "v[<id>]", data: { deckId: "deck-1", title: "A slide" } });
  const sender = await createSender(url, 500, [{ path: "/v1/models/slide", token, body }]);
  const took: number[] = [];
  const sent: Promise<void>[] = [];
  let failed = 0;
  const start = performance.now();
  for (let n = 0; !isOver(); n++) {
    // A commit counts from when it was due: where the sender itself was held up, its commits waited too.
    const due = start + (n * 1_000) / COMMITS_PER_SECOND;
    const wait = due - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const posted = sender.post();
    if (!posted) failed += 1;
    else
      sent.push(
        posted.then((one) => {
          took.push(performance.now() - due);
          failed += one.failed;
        }),
      );
  }
  await Promise.all(sent);
  sender.close();
  return {
    p99: percentile(
      took.sort((a, b) => a - b),
      0.99,
    ),
    failed,
  };
}

export function afterSeconds(seconds: number): () => boolean {
  const end = performance.now() + seconds * 1_000;
  return () => performance.now() >= end;
}
