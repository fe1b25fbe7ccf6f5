import { expect, test } from "vitest";
import { isRefusal } from "../../kernel/refusal.ts";
import { createUrlCheck } from "./endpoint-url.ts";

const check = createUrlCheck({ allowPrivate: false, param: "url" });
const lenient = createUrlCheck({ allowPrivate: true, param: "url" });

test.each([
  ["https://203.0.114.1", "https://203.0.114.1/"],
  ["https://203.0.114.1:443/a?b=c#d", "https://203.0.114.1/a?b=c"],
  ["https://203.0.114.1:8443/x", "https://203.0.114.1:8443/x"],
  ["HTTPS://[2606:4700::1111]/x", "https://[2606:4700::1111]/x"],
  ["https://no-such-host.invalid/é", "https://no-such-host.invalid/%C3%A9"],
  ["https://b\u00fccher.invalid/", "https://xn--bcher-kva.invalid/"],
  ["https://\u0430pple.invalid/", "https://xn--pple-43d.invalid/"],
])("[W2] %s is kept as %s", async (given, kept) => expect(await check(given)).toBe(kept));

test("[W2] a host name with letters beyond ASCII is kept, however often one was checked", async () => {
  for (let n = 0; n < 100_000; n++)
    if (isRefusal(await lenient("https://b\u00fccher.invalid/"))) throw new Error(`${n}`);
});

test.each([
  ...["http://203.0.114.1", "ftp://203.0.114.1", "file:///etc/passwd", "javascript:alert(1)", "https:///x", "//x"],
  ...["x", ""],
  ...["https://", "https://?", "https://user@203.0.114.1", "https://user:pass@203.0.114.1"],
  ...["https://:pass@203.0.114.1", "https://@203.0.114.1", "https://:@203.0.114.1"],
  ...["https://203.0.114.1:80", "https://203.0.114.1:22", "https://203.0.114.1:1023", "https://203.0.114.1:5432"],
  ...["https://203.0.114.1:6379"],
  ...["https://203.0.114.1:99999", " https://203.0.114.1", "https://203.0.114.1/a b"],
  ...["https://203.0.114.1\\@127.0.0.1", "https:\\\\203.0.114.1"],
  `https://203.0.114.1/${"x".repeat(10_000)}`,
])("[W2] %s is no address to send to", async (given) => {
  expect(await check(given)).toMatchObject({ code: "invalid_url", param: "url" });
});

test.each([
  ...["https://127.0.0.1", "https://0x7f.1", "https://2130706433", "https://017700000001"],
  ...["https://127\u30020\u30020\u30021"],
  ...["https://localhost", "https://localhost.", "https://x.localhost", "https://LOCALHOST/", "https://db"],
  ...["https://printer.local"],
  ...[
    "https://169.254.169.254/latest/meta-data",
    "https://[::1]",
    "https://[::ffff:127.0.0.1]",
    "https://[64:ff9b::7f00:1]",
  ],
  ...["https://metadata.google.internal", "https://0", "https://10.1.2.3:8443"],
])("[W2] %s is not public", async (given) => {
  expect(await check(given)).toMatchObject({ code: "blocked_address", param: "url" });
});

test("[W2] if private addresses are allowed, so is http, but no user name and no database port", async () => {
  expect(await lenient("http://localhost:3000/x")).toBe("http://localhost:3000/x");
  expect(await lenient("http://10.0.0.1")).toBe("http://10.0.0.1/");
  for (const url of ["ftp://x", "http://a@x", "http://x:22", "http://x:5432", "https:///x"])
    expect(await lenient(url)).toMatchObject({ code: "invalid_url" });
});
