import { expect, test } from "vitest";
import { faultOfOrigin, originCheck } from "./origin-check.ts";

const OF_APPS = [
  ...["null", "file://", "capacitor://localhost", "ionic://localhost", "tauri://localhost", "http://tauri.localhost"],
  ...["app://bundle", "chrome-extension://gaccabiiabonbkakdaicdpacaanebhkp"],
  ...["moz-extension://12345678-1234-1234-1234-1234567890ab", "safari-web-extension://1A-2B", "https://a.example:8443"],
];

test.each(OF_APPS)("[O22] %s may be allowed, and is then the only one", (origin) => {
  expect(faultOfOrigin(origin)).toBeUndefined();
  const isAllowed = originCheck([origin]);
  expect(isAllowed(origin)).toBe(true);
  for (const other of [...OF_APPS, "http://localhost"].filter((one) => one !== origin))
    expect(isAllowed(other), other).toBe(false);
});

test("[O22] a star stands for exactly one label", () => {
  const isAllowed = originCheck(["https://*.example.com", "http://*.example.com:8080", "moz-extension://*"]);
  for (const origin of ["https://a.example.com", "https://a-1.example.com", "http://b.example.com:8080"])
    expect(isAllowed(origin), origin).toBe(true);
  expect(isAllowed("moz-extension://12345678-1234-1234-1234-1234567890ab")).toBe(true);
  for (const origin of [
    ...["https://example.com", "https://.example.com", "https://a.b.example.com", "https://a.example.com:8080"],
    ...["http://a.example.com", "https://a.example.com.evil.example", "https://evil.example/a.example.com"],
    ...["https://aXexample.com", "https://*.example.com/", "chrome-extension://abc", "null"],
  ])
    expect(isAllowed(origin), origin).toBe(false);
});

test.each([
  ...["*", "https://*", "https://*.*.example", "https://a*.example", "https://a.*.example", "*.example.com"],
  ...["app.example", "https://a.example/", "https://a.example/path", "https://A.example", "https://a.example:443"],
  ...["https://user@a.example", "capacitor:", "capacitor://", "capacitor://localhost/", "CAPACITOR://localhost"],
  ...["tauri://*", "ws://a.example", "data://a", "javascript://a", "file:///page.html", "file://host", "", "NULL"],
])("[O22] %s is no origin that can be allowed", (text) => {
  expect(faultOfOrigin(text)).toEqual(expect.any(String));
  expect(() => originCheck([text])).toThrow("cannot be an allowed origin");
});

test("[O22] without a setting, pages of this machine are allowed", () => {
  const isAllowed = originCheck(undefined);
  for (const origin of ["http://localhost", "https://localhost", "http://127.0.0.1:5173", "http://[::1]:80"])
    expect(isAllowed(origin), origin).toBe(true);
  for (const origin of ["null", "file://", "capacitor://localhost", "http://localhost.evil.example"])
    expect(isAllowed(origin), origin).toBe(false);
});
