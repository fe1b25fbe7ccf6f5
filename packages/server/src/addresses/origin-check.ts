const LOOPBACK = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/;

/** Which browser origins may call: those that were named, else pages of this machine only. */
export const originCheck = (allowed: readonly string[] | undefined) => {
  const named = allowed && new Set(allowed);
  return (origin: string): boolean => (named ? named.has(origin) : LOOPBACK.test(origin));
};
