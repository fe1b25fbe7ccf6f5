/** What a process knows of a database that it uses. Times are in milliseconds since 1970. */
export interface DatabaseHealth {
  readonly requestedAt?: number;
  readonly succeededAt?: number;
  /** Undefined: the newest attempt to reach it succeeded. */
  readonly problem?: string | undefined;
  /** Attempts that failed since the last one that succeeded. */
  readonly failures: number;
  /** When it last came or went. Undefined: not asked yet. */
  readonly since?: number;
}

/** What the newest attempt has shown. */
export function healthAfter(
  before: DatabaseHealth,
  at: { requestedAt: number; now: number },
  problem?: string,
): DatabaseHealth {
  const { requestedAt, now } = at;
  const isSame = before.since !== undefined && (before.problem === undefined) === (problem === undefined);
  const since = isSame ? before.since : now;
  if (problem === undefined) return { requestedAt, succeededAt: now, failures: 0, since };
  const { succeededAt } = before;
  return {
    requestedAt,
    ...(succeededAt !== undefined && { succeededAt }),
    failures: before.failures + 1,
    problem,
    since,
  };
}
