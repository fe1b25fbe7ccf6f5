/** Why the server closed a stream. 1012 is the WebSocket standard's "service restart". */
export const closeCodes = {
  badFrame: 4400,
  token: 4401,
  /** A foreign origin, or a subscription outside the token's scope. */
  forbidden: 4403,
  noHello: 4408,
  slowReader: 4409,
  tooManyFrames: 4429,
  restarting: 1012,
} as const;
