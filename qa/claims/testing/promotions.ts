import { createAsk } from "../../../packages/conformance/src/transport/ask.ts";
import type { MovableClock } from "../../support/movable-clock.ts";

/**
 * Tests what short runs rarely reach: a waiter is judged again when it is next. Returns violations as sentences.
 * The tenant is the key's, with the reference models.
 */
export async function judgePromotions(url: string, key: string, clock: MovableClock): Promise<string[]> {
  const { ask, close } = createAsk(url, key);
  const slides = "/v1/models/slide";

  const agent = async (participantId: string, deckId: string) => {
    const json = { participantId, operations: ["slide.*"], syncGroups: [`deck:${deckId}`], ttlSeconds: 86_400 };
    return String((await ask("POST", "/v1/capabilities", { json })).body.token);
  };
  const make = (id: string, deckId: string) => ask("POST", slides, { json: { id, data: { deckId } } });
  const claim = async (token: string, id: string) =>
    String((await ask("POST", `${slides}/${id}/claim`, { token, json: { queue: true, ttl: "1h" } })).body.id);
  const statusOf = async (id: string) => String((await ask("GET", `/v1/claims/${id}`)).body.status);
  const hold = async (id: string, deckId: string) => {
    await make(id, deckId);
    const holder = await agent(`holder-of-${id}`, deckId);
    const held = await claim(holder, id);
    return () => ask("DELETE", `/v1/claims/${held}`, { token: holder });
  };

  async function silence(): Promise<string[]> {
    const release = await hold("silence", "d1");
    const [first, second] = [await agent("silent", "d1"), await agent("lively", "d1")];
    const [silent, lively] = [await claim(first, "silence"), await claim(second, "silence")];
    await clock.move(31_000);
    await ask("POST", `/v1/claims/${lively}/renew`, { token: second });
    await release();
    const found = [await statusOf(silent), await statusOf(lively)];
    return found.join() === "queued,active" ? [] : [`a silent waiter and the next one are ${found}`];
  }

  async function departure(): Promise<string[]> {
    const release = await hold("left", "d3");
    const waits = await claim(await agent("narrow", "d3"), "left");
    await leave("left", "d4", release);
    const after = await statusOf(waits);
    return after === "canceled" ? [] : [`a waiter whose record left its groups is ${after}`];
  }

  /** The holder, who sees both decks, moves the record to another one. */
  async function leave(id: string, deckId: string, release: () => Promise<unknown>): Promise<void> {
    const json = {
      participantId: `holder-of-${id}`,
      operations: ["slide.*"],
      syncGroups: ["deck:d3", `deck:${deckId}`],
    };
    const { body } = await ask("POST", "/v1/capabilities", { json });
    await ask("PATCH", `${slides}/${id}`, { token: String(body.token), json: { data: { deckId } } });
    await ask("DELETE", `${slides}/${id}/claim`, { token: String(body.token) });
    await release();
  }

  try {
    return [...(await silence()), ...(await departure())];
  } finally {
    close();
  }
}
