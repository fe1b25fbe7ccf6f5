/**
 * Words that this project no longer uses, with the word to use instead: docs/glossary.md has all that we do use. A word stands
 * here once nothing uses it, so that it does not come back.
 */
export const retiredNames: Readonly<Record<string, string>> = {
  asker: "recording client",
  attendance: "membership",
  chapter: "section",
  chapters: "sections",
  company: "collab",
  crowd: "worker pool",
  deposed: "fenced",
  desk: "deps or context",
  desks: "deps or context",
  dice: "random",
  door: "auth hook",
  ears: "listeners",
  holdings: "held leases",
  imagined: "synthetic",
  inquiry: "outcome lookup",
  landed: "echoed or committed",
  ledger: "sequence set or store",
  ledgers: "sequence sets or stores",
  outlet: "socket writer",
  parked: "rejected",
  strangers: "failed-auth limiter",
  tally: "counters or totals",
  upkeep: "maintenance",
  whoever: "the actor's name",
  witness: "eviction marker",
  world: "tenant, or environment",
  worlds: "tenants",
};

/** Names that others chose: MCP's hint, and the word of dumps of version 1. */
export const keptNames: ReadonlySet<string> = new Set(["openWorldHint", "mark.world"]);

/** In prose these are mostly signs of a sentence whose actor is missing. */
export const retiredProse: Readonly<Record<string, string>> = {
  deposed: "fenced",
  ledger: "sequence set or store",
  nobody: "name the actor",
  somebody: "name the actor",
  upkeep: "maintenance",
  whoever: "name the actor",
};
