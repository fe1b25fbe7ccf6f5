import type { LoadPlan } from "./load.ts";
import type { ServerReady } from "./server.ts";

/** About 1.05 KB, with an id and a key of its own every time. */
export const newSlide = JSON.stringify({
  id: "s[<id>]",
  idempotencyKey: "k[<id>]",
  data: { deckId: "deck-1", title: "A slide", order: 3, notes: "n".repeat(850) },
});

/** What is sent to a server that is to create slides, by each of these tokens in turn. */
export const creates = ({ url, tokens }: ServerReady, by = tokens): Pick<LoadPlan, "url" | "requests"> => ({
  url,
  requests: by.map((token) => ({ path: "/v1/models/slide", token, body: newSlide })),
});
