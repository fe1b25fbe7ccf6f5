import { isSyncError, type Remedy, type SyncError } from "@holdfast/sdk";

/** A tool's answer to a model: the result, or an error with advice. Always JSON. */
export type Answer = Success | Refusal;

export interface Success {
  readonly ok: true;
  readonly [more: string]: unknown;
}

export interface Refusal {
  readonly ok: false;
  /** Stable: one of the service's error codes, or one of `ownCodes`. */
  readonly code: string;
  readonly message: string;
  /** Advice for the model on what to try next. */
  readonly next: string;
  readonly [more: string]: unknown;
}

/** Codes for problems between a model and these tools, which no server returns. */
export const ownCodes = {
  invalid_input: "Call the tool again with an input that fits its schema.",
  not_read: "Read the record first, then decide what to write.",
  needs_auth:
    "The server refuses the token of these tools. Only the person who runs them can provide another one. Do not try again.",
  not_connected: "The server cannot be reached now. Try again later.",
  no_answer: "The server did not answer in time. Try again later.",
  closed: "These tools were closed and cannot be used any more.",
  internal_error: "This is a bug in the tool, not an error in the call. Do not try again; tell the person.",
} as const;

const nextByRemedy: Readonly<Record<Remedy, string>> = {
  fix: "The same call would be refused again. Change it, or skip it.",
  "re-read": "Read the record again and decide again.",
  wait: "Do something else first and try again later.",
  retry: "Try the same call again in a moment.",
  "sign-in": "The server refuses the token of these tools. Only the person who runs them can provide another one.",
};

export const refuse = (code: keyof typeof ownCodes, message: string, more: object = {}): Refusal => ({
  ok: false,
  code,
  message,
  next: ownCodes[code],
  ...more,
});

/** Uses the service's code, although the client detected it. */
export const notFound = ({ model, id }: { model: string; id: string }): Refusal => ({
  ok: false,
  code: "record_not_found",
  message: `The ${model} ${id} does not exist, or this token may not read it.`,
  next: "List the records to find the right id. The record may have been deleted.",
});

export const unknownField = (model: string, field: string): Refusal => ({
  ok: false,
  code: "unknown_field",
  message: `The model "${model}" has no field ${JSON.stringify(field)}.`,
  next: nextByRemedy.fix,
  param: field,
});

/** Turns any error into an answer. */
export function refusalOf(error: unknown): Refusal {
  if (!isSyncError(error)) return refuse("internal_error", error instanceof Error ? error.message : String(error));
  if (error.code === "client_closed") return refuse("closed", error.message);
  return {
    ok: false,
    code: error.code,
    message: error.message,
    next: nextByRemedy[error.then],
    ...(error.param !== undefined && { param: error.param }),
    ...(error.requiredCapability && { requiredCapability: error.requiredCapability }),
    ...(error.claims && { holders: holdersOf(error) }),
  };
}

/** The present holders, with the fields that a model can use. */
const holdersOf = ({ claims = [] }: SyncError) =>
  claims.map(({ actor, participantKind, action, description, field, expiresInMs }) => ({
    actor,
    kind: participantKind,
    action,
    ...(description !== null && { description }),
    ...(field !== undefined && { field }),
    ...(expiresInMs !== undefined && { expiresInMs }),
  }));
