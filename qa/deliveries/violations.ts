export const VIOLATIONS = {
  missing: "an event was passed over, or never came",
  order: "an event came behind a later one",
  repeat: "what had been accepted came again without a reason",
  foreign: "an event came that was not subscribed to",
  content: "a body is not what the log says",
  size: "a batch is larger than it may be",
  name: "a webhook-id does not tell the range, or the revision",
  changed: "one webhook-id came with two bodies",
  grown: "a frozen batch grew",
  cut: "a batch shrank otherwise than by thirds from the third failure on",
  signature: "a signature is not by the secrets in force",
  overlap: "two requests to one endpoint at the same time",
  early: "an attempt came before its time",
  late: "an attempt came after its time",
  ninth: "an attempt after the last one",
  silence: "a request to an endpoint that is disabled, or removed",
  stray: "a redirect was followed",
  status: "an endpoint does not stand where its deliveries do",
} as const;
export type ViolationKind = keyof typeof VIOLATIONS;

export interface Violation {
  readonly kind: ViolationKind;
  readonly message: string;
}

export type ReportViolation = (kind: ViolationKind, message: string) => void;

/** How often each question could be asked at all: a judge who had nothing to look at has found nothing. */
export interface Coverage {
  requests: number;
  tests: number;
  /** Of accepted requests. */
  accepted: number;
  events: number;
  /** Accepted requests with what had been accepted before. */
  repeats: number;
  /** Requests that failed, or of which nobody knows. */
  failed: number;
  /** Requests with a smaller range than the one before, from the same position. */
  shrunk: number;
  /** Positions at which all attempts were made. */
  exhausted: number;
  /** Waits that were held against the schedule from below, and from above. */
  waits: number;
  waitsAbove: number;
  /** Requests that followed another one to the same endpoint. */
  neighbours: number;
  /** Those whose sender stood still while the next one began: nobody can call it back. */
  excusedOverlaps: number;
  signatures: number;
  /** Made with two secrets. */
  doubleSignatures: number;
  /** Made after an older secret had lost its force. */
  afterRotation: number;
  /** Positions within and before ranges that were not subscribed to. */
  unsubscribed: number;
  /** Names that came more than once, with their bodies. */
  sameNames: number;
}

export const noCoverage = (): Coverage => ({
  requests: 0,
  tests: 0,
  accepted: 0,
  events: 0,
  repeats: 0,
  failed: 0,
  shrunk: 0,
  exhausted: 0,
  waits: 0,
  waitsAbove: 0,
  neighbours: 0,
  excusedOverlaps: 0,
  signatures: 0,
  doubleSignatures: 0,
  afterRotation: 0,
  unsubscribed: 0,
  sameNames: 0,
});
