/** How good the simulated network between this page and the server is. */
export const NETWORK_MODES = ["online", "slow", "lossy", "offline"] as const;
export type NetworkMode = (typeof NETWORK_MODES)[number];

/** The key in localStorage: one per person, so that all of a person's windows agree, also after a reload. */
export const networkModeKey = (person: string): string => `holdfast-demo:line:${person}`;

export const networkModeOf = (stored: string | null): NetworkMode =>
  NETWORK_MODES.find((mode) => mode === stored) ?? "online";

export const rememberedNetworkMode = (person: string): NetworkMode =>
  networkModeOf(localStorage.getItem(networkModeKey(person)));

/** Each way. */
export const SLOW_MS = 1_000;

export type Fate = "arrives" | "is-lost" | "loses-its-answer";

/** The fate of a request: over a lossy network, of three one is lost, one loses its answer, and one arrives. */
export function fateOf(mode: NetworkMode, roll: number): Fate {
  if (mode !== "lossy" || roll >= 2 / 3) return "arrives";
  return roll < 1 / 3 ? "is-lost" : "loses-its-answer";
}

/** A socket loses no message that it receives, but over a lossy network it breaks at every tenth. */
export const breaksSocket = (mode: NetworkMode, roll: number): boolean => mode === "lossy" && roll < 0.1;
