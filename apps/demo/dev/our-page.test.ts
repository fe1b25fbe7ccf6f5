import { expect, test } from "vitest";
import { isFromOurPage } from "./our-page.ts";

const ours = { host: "127.0.0.1:5173", "sec-fetch-site": "same-origin" };

test.each([
  ["our own page", ours, "127.0.0.1", true],
  ["our own page by name", { ...ours, host: "localhost:5173" }, "::1", true],
  ["our own page, naming its origin", { ...ours, origin: "http://127.0.0.1:5173" }, "127.0.0.1", true],
  ["another machine", ours, "192.168.1.7", false],
  ["a name re-bound to this machine", { ...ours, host: "evil.example:5173" }, "127.0.0.1", false],
  ["another port of this machine", { ...ours, "sec-fetch-site": "same-site" }, "127.0.0.1", false],
  ["another site", { ...ours, "sec-fetch-site": "cross-site" }, "127.0.0.1", false],
  ["the address bar", { ...ours, "sec-fetch-site": "none" }, "127.0.0.1", false],
  ["another origin", { ...ours, origin: "http://127.0.0.1:9" }, "127.0.0.1", false],
  ["no browser", { host: "127.0.0.1:5173" }, "127.0.0.1", false],
])("a request from %s", (_, headers, address, expected) => {
  expect(isFromOurPage(headers, address)).toBe(expected);
});
