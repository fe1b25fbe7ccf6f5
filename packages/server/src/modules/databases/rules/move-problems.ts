const MENDED = "The operator can repair this: see holdfast databases verify.";

/** Why a move cannot go on, in sentences. */
export const moveProblems = {
  several: `Two databases have a log of this tenant: one was restored from a backup. ${MENDED}`,
  none: `No database has a log of this tenant: one was restored from a backup, or emptied. ${MENDED}`,
  rewritten: "Records are erased or rewritten again and again: the copy starts over later.",
  attached: "Tables of this database are attached: detach them first (holdfast tables detach).",
} as const;

const ALL: ReadonlySet<string> = new Set(Object.values(moveProblems));

/** What a tenant may read of it: an error of a database may name the operator's hosts and roles. */
export const toldProblem = (problem: string): string =>
  ALL.has(problem) ? problem : "The move has failed so far. The server tries again.";
