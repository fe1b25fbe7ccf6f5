import type { LogEntry } from "@holdfast/sdk/protocol";
import { openSession, type Session } from "../session.ts";
import type { Entry } from "./history.ts";

export interface HistoryPage {
  readonly entries: readonly Entry[];
  /** Where to read on. */
  readonly cursor: string;
  readonly hasMore: boolean;
}

/** Kept between pages, and asked for anew when the server does not take it any more. */
let session: Promise<Session> | undefined;

/** One page of the log beyond a position, as far as it tells of one deck. */
export async function readHistory(
  person: string,
  deckId: string,
  after: string,
  signal: AbortSignal,
): Promise<HistoryPage> {
  const query = new URLSearchParams({ after, limit: "1000" });
  for (const model of ["document", "slide"]) query.append("model", model);
  for (const group of [`document:${deckId}`, `deck:${deckId}`]) query.append("group", group);
  const ask = async () => {
    session ??= openSession(person);
    const { url, token } = await session;
    return await fetch(`${url}/v1/log?${query}`, { headers: { authorization: `Bearer ${token}` }, signal });
  };
  try {
    let answer = await ask();
    if (answer.status === 401) {
      session = undefined;
      answer = await ask();
    }
    const page = (await answer.json()) as {
      data: readonly LogEntry[];
      has_more: boolean;
      next_cursor: string;
      message?: string;
    };
    if (!answer.ok) throw new Error(page.message ?? `The server answered ${answer.status}.`);
    return { entries: page.data, cursor: page.next_cursor, hasMore: page.has_more };
  } catch (error) {
    session = undefined;
    throw error;
  }
}
