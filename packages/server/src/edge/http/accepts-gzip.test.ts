import { expect, test } from "vitest";
import { acceptsGzip } from "./accepts-gzip.ts";

test.each<[string | undefined, boolean]>([
  [undefined, false],
  ["", false],
  ["gzip", true],
  ["GZIP", true],
  ["br, gzip;q=0.5", true],
  ["deflate, br", false],
  ["*", true],
  ["gzip;q=0", false],
  ["gzip; q=0.000, *", false],
  ["*;q=0, gzip", true],
  ["identity;q=1, *;q=0", false],
  ["gzipped", false],
])("[G16] Accept-Encoding %j allows gzip: %j", (header, allowed) => {
  expect(acceptsGzip(header)).toBe(allowed);
});
