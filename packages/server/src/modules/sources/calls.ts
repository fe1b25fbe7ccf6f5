import { sourceAnswers, sourceLimits } from "@holdfast/sdk/protocol";
import { shapeCheck } from "../../edge/payload/shape-check.ts";
import type { Encryption } from "../../kernel/encryption.ts";
import type { IncomingAnswers } from "../../kernel/limits/incoming-answers.ts";
import { type CallSource, callSource, type NoteCall, sourceKeys } from "./flows/call-source.ts";
import { createCallSender } from "./send-call.ts";

const checks = {
  commit: shapeCheck(sourceAnswers.commit),
  load: shapeCheck(sourceAnswers.load),
  list: shapeCheck(sourceAnswers.list),
  events: shapeCheck(sourceAnswers.events),
};

export interface CallOptions {
  readonly note: NoteCall;
  readonly encryption: Encryption;
  readonly allowPrivate: boolean;
  readonly recordBytes: number;
  readonly incoming: IncomingAnswers;
}

/** Calls to the services of callers that have the records of some models. */
export interface OpenCalls {
  readonly call: CallSource;
  close(): Promise<void>;
}

export function openCalls({ note, encryption, allowPrivate, ...bounds }: CallOptions): OpenCalls {
  const { connectMs, requestMs } = sourceLimits;
  const { send, close } = createCallSender({ connectMs, requestMs, allowPrivate });
  const checkAnswer = (type: keyof typeof checks, answer: unknown) => checks[type](answer);
  return { call: callSource({ ...bounds, note, send, checkAnswer, keys: sourceKeys(encryption) }), close };
}
