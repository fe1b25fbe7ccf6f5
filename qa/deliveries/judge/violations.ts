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

export type ReportViolation = (kind: ViolationKind, message: string) => void;

/** How often each check applied. A judge with nothing to check finds nothing. */
export const noCoverage = () => ({
  requests: 0,
  tests: 0,
  accepted: 0,
  /** Of accepted requests. */
  events: 0,
  /** Accepted requests with events that had been accepted before. */
  repeats: 0,
  /** Requests that failed, or whose outcome is unknown. */
  failed: 0,
  /** Requests with a smaller range than the one before, from the same position. */
  shrunk: 0,
  /** Positions at which all attempts were used up. */
  exhausted: 0,
  /** Waits that were compared with the schedule's lower and upper bounds. */
  waits: 0,
  waitsAbove: 0,
  /** Requests that followed another one to the same endpoint. */
  neighbours: 0,
  /** Overlaps with a request of a suspended sender, which cannot be recalled. */
  excusedOverlaps: 0,
  signatures: 0,
  /** Made with two secrets. */
  doubleSignatures: 0,
  /** Made after an older secret had expired. */
  afterRotation: 0,
  /** Positions within and before ranges that were not subscribed to. */
  unsubscribed: 0,
  /** Names that arrived more than once, with their bodies. */
  sameNames: 0,
});
export type Coverage = ReturnType<typeof noCoverage>;
