import type { BundleSize } from "./measure.ts";

export type Budget = {
  /** What a page may load at once, gzipped. */
  bytes: number;
  /** What it may load later, all together, gzipped. */
  laterBytes?: number;
  /** Packages that may be in no part of it. */
  never?: string[];
  /** Packages that a page loads only when it asks for them. */
  later?: string[];
};

/** What is wrong with a bundle, one line each. */
export function judgeSize(budget: Budget, size: BundleSize): string[] {
  const { never = [], later = [] } = budget;
  return [
    ...(size.bytes > budget.bytes
      ? [`is ${kilobytes(size.bytes)}, ${kilobytes(size.bytes - budget.bytes)} over budget`]
      : []),
    ...(budget.laterBytes !== undefined && size.laterBytes > budget.laterBytes
      ? [`loads ${kilobytes(size.laterBytes)} later, ${kilobytes(size.laterBytes - budget.laterBytes)} over budget`]
      : []),
    ...never
      .filter((name) => [...size.packages, ...size.laterPackages].includes(name))
      .map((name) => `contains ${name}`),
    ...later.filter((name) => size.packages.includes(name)).map((name) => `loads ${name} at once instead of on demand`),
    ...later
      .filter((name) => ![...size.packages, ...size.laterPackages].includes(name))
      .map((name) => `does not contain ${name}: check how it is imported`),
  ];
}

export const kilobytes = (bytes: number) => `${(bytes / 1024).toFixed(1)} KB`;
