import { limits, type SourceAnswers } from "@holdfast/sdk/protocol";
import { newId } from "../../../ids.ts";
import type { Database } from "../../../kernel/connection/pool.ts";
import type { Encryption } from "../../../kernel/encryption.ts";
import { checkJsonCount } from "../../../kernel/json/check-json-count.ts";
import { checkJsonValues } from "../../../kernel/json/check-json-values.ts";
import type { IncomingAnswers } from "../../../kernel/limits/incoming-answers.ts";
import type { Refusal } from "../../../kernel/refusal.ts";
import { listStaleSources, type noteCall, replaceKeys, type StoredSource } from "../db/sources.ts";
import { mostAnswerBytes } from "../rules/answer-bounds.ts";
import type { CallOf, SendCall } from "../rules/source-call.ts";

/** Calls a source, and notes what that has shown of it. "too large": less should be asked for. Undefined: there was no answer. */
export type CallSource = <T extends keyof SourceAnswers>(
  source: StoredSource,
  call: CallOf<T>,
) => Promise<SourceAnswers[T] | "too large" | undefined>;

/** What a call has shown of its source. */
export type NoteCall = (source: StoredSource, shown: Parameters<typeof noteCall>[3]) => Promise<void>;

export interface CallDeps {
  readonly note: NoteCall;
  readonly send: SendCall;
  /** Checks the shape of an answer. */
  readonly checkAnswer: (type: keyof SourceAnswers, answer: unknown) => Refusal | undefined;
  readonly keys: SourceKeys;
  readonly incoming: IncomingAnswers;
  /** Most bytes of a record. */
  readonly recordBytes: number;
}

/** Keys are encrypted for the source that they belong to. */
export interface SourceKeys {
  seal(key: string, source: Pick<StoredSource, "tenant" | "id">): Buffer;
  /** Those that sign now, newest first. Undefined if the newest cannot be decrypted. */
  open(source: StoredSource, now: number): string[] | undefined;
}

export const sourceKeys = ({ encrypt, decrypt }: Encryption): SourceKeys => ({
  seal: (key, source) => encrypt(key, ownerOf(source)),
  open(source, now) {
    const newest = decrypt(source.key, ownerOf(source));
    if (newest === undefined) return undefined;
    const isFresh = source.oldKeyUntil !== null && now < Date.parse(source.oldKeyUntil);
    const before = isFresh && source.oldKey ? decrypt(source.oldKey, ownerOf(source)) : undefined;
    return before === undefined ? [newest] : [newest, before];
  },
});

export const ownerOf = ({ tenant, id }: Pick<StoredSource, "tenant" | "id">): string => `${tenant}/${id}`;

export const callSource =
  ({ note, send, checkAnswer, keys, incoming, recordBytes }: CallDeps): CallSource =>
  async <T extends keyof SourceAnswers>(source: StoredSource, call: CallOf<T>) => {
    const secrets = keys.open(source, Date.now());
    const room = incoming.open(source.tenant);
    const ask = async () => {
      if (!secrets) return { problem: NO_KEY };
      const bounds = { most: mostAnswerBytes(call, recordBytes), take: room.take };
      const to = { endpoint: source.endpoint, secrets };
      const result = await send(to, newId("msg_"), JSON.stringify(call), bounds);
      if ("problem" in result) return result;
      return await room.parse(() => readAnswer(result.bytes, (answer) => checkAnswer(call.type, answer)));
    };
    const found = await ask().finally(room.close);
    // Calls that succeed one after the other say nothing new.
    if ("problem" in found) await note(source, { rejected: false, ...found });
    else if (!isHealthy(source)) await note(source, { problem: null, rejected: false });
    if ("answer" in found) return found.answer as SourceAnswers[T];
    return "isTooLarge" in found ? "too large" : undefined;
  };

const NO_KEY = "Its key is encrypted with a master key that is not configured: set a new one with rotate_key.";

/** As many values as a request may have. A single record that is nested too deeply, say, is left out by itself. */
const ANY_SHAPE = { depth: limits.jsonValues, keys: limits.jsonValues };

function readAnswer(
  bytes: Uint8Array,
  check: (answer: unknown) => Refusal | undefined,
): { readonly answer: unknown } | { readonly problem: string; readonly isTooLarge?: true } {
  if (checkJsonCount(bytes, limits.jsonValues, ANY_SHAPE))
    return { problem: `The answer has more than ${limits.jsonValues} JSON values.`, isTooLarge: true };
  let answer: unknown;
  try {
    answer = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return { problem: "The answer is not JSON." };
  }
  const refusal = check(answer) ?? checkJsonValues((answer as { cursor?: unknown }).cursor ?? null, "cursor");
  if (!refusal) return { answer };
  return { problem: `The answer has a wrong shape: ${refusal.message ?? refusal.code} (${refusal.param ?? "body"})` };
}

const isHealthy = ({ failures, rejected, succeededAt }: StoredSource): boolean =>
  failures === 0 && !rejected && succeededAt !== null;

/** Encrypts again what an older master key encrypted. Returns how many keys cannot be decrypted. */
export async function reencryptSources(db: Database, { keyName, encrypt, decrypt }: Encryption): Promise<number> {
  let unreadable = 0;
  for (const source of await listStaleSources(db, keyName)) {
    const owner = ownerOf(source);
    const again = (sealed: Buffer): Buffer | undefined => {
      const text = decrypt(sealed, owner);
      return text === undefined ? undefined : encrypt(text, owner);
    };
    const key = again(source.key);
    if (!key) unreadable++;
    else await replaceKeys(db, { ...source, key, oldKey: (source.oldKey && again(source.oldKey)) ?? null });
  }
  return unreadable;
}
