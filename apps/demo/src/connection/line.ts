/** How the line between this page and the sync server is made to be. */
export const LINES = ["online", "slow", "lossy", "offline"] as const;
export type Line = (typeof LINES)[number];

/** Where it is remembered: one place per person, so that all of a person's windows agree. A reload finds it as it was. */
export const lineKey = (person: string): string => `holdfast-demo:line:${person}`;

export const lineOf = (stored: string | null): Line => LINES.find((line) => line === stored) ?? "online";

export const rememberedLine = (person: string): Line => lineOf(localStorage.getItem(lineKey(person)));

/** Each way. */
export const SLOW_MS = 1_000;

export type Fate = "arrives" | "is-lost" | "loses-its-answer";

/** What becomes of a request on a line: of three on a lossy one, one is lost, one loses its answer, one arrives. */
export function fateOf(line: Line, roll: number): Fate {
  if (line !== "lossy" || roll >= 2 / 3) return "arrives";
  return roll < 1 / 3 ? "is-lost" : "loses-its-answer";
}

/** A socket loses nothing; on a lossy line it breaks, with every tenth message. */
export const breaksSocket = (line: Line, roll: number): boolean => line === "lossy" && roll < 0.1;
