/** Times in seconds. */
export const proposalLimits = {
  branchLength: 255,
  proposalTtlSeconds: 2_592_000,
  proposalTtlMinSeconds: 60,
  proposalTtlMaxSeconds: 7_776_000,
  /** Open ones of one participant in one environment of its organization. */
  proposalsPerParticipant: 10_000,
} as const;
