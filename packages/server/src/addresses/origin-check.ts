const LOOPBACK = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/;

/** The browser origins that may call: the configured ones, else only pages of this machine. */
export const originCheck = (allowed: readonly string[] | undefined) => {
  const named = allowed && new Set(allowed);
  return (origin: string): boolean => (named ? named.has(origin) : LOOPBACK.test(origin));
};
