import { sourceAnswers, sourceLimits } from "@holdfast/sdk/protocol";
import { askAgain } from "../db/sources/intents.ts";
import { noteCall, readSource } from "../db/sources/sources.ts";
import type { Encryption } from "../flows/encryption.ts";
import { askSources } from "../flows/sources/ask-sources.ts";
import {
  type CallSource,
  callSource,
  type NoteCall,
  reencryptSources,
  sourceKeys,
} from "../flows/sources/call-source.ts";
import type { AskSource } from "../flows/sources/submit-commits.ts";
import type { IncomingAnswers } from "../limits/incoming-answers.ts";
import { createCallSender } from "../outbound/send-call.ts";
import { shapeCheck } from "../payload/shape-check.ts";
import type { PlaneContext } from "./context.ts";
import type { Part } from "./part.ts";

const checks = {
  commit: shapeCheck(sourceAnswers.commit),
  load: shapeCheck(sourceAnswers.load),
  list: shapeCheck(sourceAnswers.list),
  events: shapeCheck(sourceAnswers.events),
};

/** Calls to the services of callers that have the records of some models. */
export interface Sources extends Part {
  readonly call: CallSource;
  readonly ask: AskSource;
}

export interface CallOptions {
  readonly note: NoteCall;
  readonly encryption: Encryption;
  readonly allowPrivate: boolean;
  readonly recordBytes: number;
  readonly incoming: IncomingAnswers;
}

export function openCalls({
  note,
  encryption,
  allowPrivate,
  ...bounds
}: CallOptions): Pick<Sources, "call"> & Required<Pick<Part, "close">> {
  const { connectMs, requestMs } = sourceLimits;
  const { send, close } = createCallSender({ connectMs, requestMs, allowPrivate });
  const checkAnswer = (type: keyof typeof checks, answer: unknown) => checks[type](answer);
  return { call: callSource({ ...bounds, note, send, checkAnswer, keys: sourceKeys(encryption) }), close };
}

export async function openSources({
  pool,
  options,
  encryption,
  logger,
  limits: { recordBytes },
  incoming,
}: PlaneContext): Promise<Sources> {
  const unreadable = await reencryptSources(pool, encryption);
  if (unreadable > 0)
    logger.warn(
      { event: "source_keys_unreadable", unreadable },
      "Keys of endpoint datasources are encrypted with a master key that is not configured.",
    );
  const { call, close } = openCalls({
    ...{ encryption, recordBytes, incoming, allowPrivate: options.datasourcesAllowPrivate === true },
    note: (source, shown) => noteCall(pool, source.tenant, source.id, shown),
  });
  const ask = askSources(async (tenant, id, commits) => {
    const source = await readSource(pool, tenant, id);
    return source && (await call(source, { type: "commit", datasource: id, commits: [...commits] }));
  });
  return {
    call,
    async ask(intent) {
      const answer = await ask(intent);
      // Without a database it is asked about when this process would have been too late.
      if (!answer) await askAgain(pool, intent).catch(() => {});
      return answer;
    },
    close,
  };
}
