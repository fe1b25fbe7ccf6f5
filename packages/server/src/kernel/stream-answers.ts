import type { Call } from "@holdfast/sdk/protocol";
import type { Refusal } from "./refusal.ts";

/** A request on a stream. */
export interface StreamRequest extends Pick<Call, "name" | "params" | "query" | "body"> {
  readonly token: string;
  /** Bytes of the whole frame. */
  readonly bytes: number;
  /** What the client has said of its schema. */
  readonly schema: string | undefined;
  /** Fires when the socket closes. */
  readonly signal: AbortSignal;
}

export interface CallAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** JSON. */
  readonly body: string;
  /** The answer has left the process. */
  sent(): void;
}

/** What is said to calls. */
export interface StreamAnswers {
  answer(request: StreamRequest): Promise<CallAnswer>;
  /** A call that is refused before it is one. */
  refuse(refusal: Refusal): Omit<CallAnswer, "sent">;
}
