/** A bucket of permissions that refills steadily: so many a second, and never more than so many at once. */
export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** How full a bucket was, and when. */
export interface Level {
  readonly left: number;
  readonly at: number;
}

/** How full it is now. A clock that runs backwards takes nothing away. */
export const leftAt = ({ left, at }: Level, { perSecond, burst }: Rate, now: number): number =>
  Math.min(burst, left + (Math.max(0, now - at) / 1_000) * perSecond);

/** Whole seconds until there is as much as that. */
export const secondsUntil = (wanted: number, left: number, { perSecond }: Rate): number =>
  Math.ceil(Math.max(0, wanted - left) / perSecond);
