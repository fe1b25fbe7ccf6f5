import { type Agent, request } from "node:http";

export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface JsonRequest {
  readonly agent: Agent;
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: string;
  readonly token: string;
  readonly body?: object;
}

const PATIENCE_MS = 20_000;

/** One request. Rejects unless a whole answer came. */
export function sendJson({ agent, method, url, token, body }: JsonRequest): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const text = body && JSON.stringify(body);
    const sent = request(url, {
      agent,
      method,
      timeout: PATIENCE_MS,
      headers: {
        authorization: `Bearer ${token}`,
        ...(text !== undefined && { "content-type": "application/json", "content-length": Buffer.byteLength(text) }),
      },
    });
    sent.on("error", reject);
    sent.on("timeout", () => sent.destroy(new Error("No answer in time.")));
    sent.on("response", (response) => {
      let text = "";
      response.on("error", reject);
      response.on("data", (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.on("end", () => {
        try {
          resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as Record<string, unknown> });
        } catch (error) {
          // Cut off in the middle of the answer: as good as none.
          reject(error as Error);
        }
      });
    });
    sent.end(text);
  });
}
