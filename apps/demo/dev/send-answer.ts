import type { ServerResponse } from "node:http";

export interface Answer {
  readonly status: number;
  readonly body: string | object;
}

/** A sentence goes as text, everything else as JSON; a failure becomes 502 with its sentence. */
export async function sendAnswer(response: ServerResponse, answer: Promise<Answer>): Promise<void> {
  const { status, body } = await answer.catch((error: unknown) => ({
    status: 502,
    body: error instanceof Error ? error.message : String(error),
  }));
  response.statusCode = status;
  response.setHeader("cache-control", "no-store");
  response.setHeader("content-type", typeof body === "string" ? "text/plain; charset=utf-8" : "application/json");
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}
