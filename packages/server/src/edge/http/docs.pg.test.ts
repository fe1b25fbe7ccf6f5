import { type ErrorCode, errorCodes, errorSentences } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { rawRequest, startApp } from "../../testing/app.ts";
import { openStream } from "../../testing/stream/stream.ts";
import { escapeHtml } from "./docs/html.ts";

const app = await startApp();
const { call } = app;

const CODES = Object.keys(errorCodes) as ErrorCode[];
const linkTo = (code: string, base = app.url) => `${base}/docs/errors#${code}`;

test("[E1] an error within a bulk has its link", async () => {
  const operations = [{ action: "create", model: "slide", id: "e1", data: { colour: 1 } }];
  const { body } = await call("POST", "/v1/commits/bulk", {
    json: { commits: [{ clientTxId: "e1", operations }, { operations: [] }] },
  });
  expect(body.data).toEqual([
    expect.objectContaining({ code: "unknown_field", doc_url: linkTo("unknown_field") }),
    expect.objectContaining({ code: "too_many_operations", doc_url: linkTo("too_many_operations") }),
  ]);
});

test("[E1] so have a bare connection, and the stream", async () => {
  expect(await rawRequest(app.url, "hello\r\n\r\n")).toContain(`"doc_url":"${linkTo("invalid_body")}"`);
  const refused = await rawRequest(
    app.url,
    "GET /v1/stream?x=1 HTTP/1.1\r\nhost: evil.example\r\norigin: https://evil.example\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n",
  );
  expect(refused).toContain(`"doc_url":"${linkTo("origin_not_allowed")}"`);
  const stream = await openStream(app.url);
  stream.send("{}");
  expect(await stream.next("error")).toMatchObject({ code: "invalid_frame", doc_url: linkTo("invalid_frame") });
  await stream.close();
});

test("[E1] the link has the server's own address; a configured one comes first, the caller's Host never", async () => {
  const plain = await call("GET", "/nowhere", { headers: { host: "evil.example" } });
  expect(plain.body.doc_url).toBe(linkTo("route_not_found"));
  const hidden = await app.another({ publicUrl: "https://sync.example/api" });
  const { body } = await hidden.call("GET", "/nowhere", { headers: { host: "evil.example" } });
  expect(body.doc_url).toBe("https://sync.example/api/docs/errors#route_not_found");
});

test("[E2] the page explains every code to anybody", async () => {
  for (const path of ["/docs/errors", "/api/docs/errors"]) {
    const page = await call("GET", path, { token: null });
    expect(page.status).toBe(200);
    expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
    for (const code of CODES) {
      const section = page.text.split(`<section id="${code}"`)[1]?.split("</section>")[0];
      expect(section, code).toContain(escapeHtml(errorSentences[code]));
      expect(section, code).toContain(String(errorCodes[code].status));
      expect(section, code).toContain(errorCodes[code].type);
      expect(section, code).toContain(`<code>${errorCodes[code].then}</code>`);
    }
  }
});

test("[E2] the page loads nothing else, and is not sent again to a client that has it", async () => {
  const page = await call("GET", "/docs/errors", { token: null });
  expect(page.headers["content-security-policy"]).toMatch(/^default-src 'none'; style-src 'sha256-/);
  expect(page.text).not.toMatch(/<script|<img|stylesheet|src=|url\(|https?:/);
  expect(page.headers["cache-control"]).toBe("public, max-age=3600");
  const etag = String(page.headers.etag);
  const again = await call("GET", "/docs/errors", { token: null, headers: { "if-none-match": `"x", W/${etag}` } });
  expect(again.status).toBe(304);
  expect(again.text).toBe("");
  expect(again.headers.etag).toEqual(etag);
  const head = await call("HEAD", "/docs/errors", { token: null });
  expect(head.status).toBe(200);
  expect(head.text).toBe("");
  expect(head.headers["content-type"]).toEqual(page.headers["content-type"]);
  const packed = await call("GET", "/docs/errors", { token: null, headers: { "accept-encoding": "gzip, br" } });
  expect(packed.headers["content-encoding"]).toBe("gzip");
  expect(packed.headers.vary?.split(", ").includes("accept-encoding")).toBe(true);
  expect(Number(packed.headers["content-length"])).toBeLessThan(page.text.length / 2);
  const wrong = await call("POST", "/docs/errors", { token: null });
  expect(wrong.status).toBe(405);
  expect(wrong.headers.allow).toBe("GET, HEAD");
});

test("[E7] the page to browse and all that it loads are served to anybody", async () => {
  const page = await call("GET", "/docs", { token: null });
  expect(page.status).toBe(200);
  expect(page.headers["content-type"]).toBe("text/html; charset=utf-8");
  const policy = String(page.headers["content-security-policy"]).split("; ");
  expect(policy).toEqual(expect.arrayContaining(["default-src 'none'", "script-src 'self'", "style-src 'self'"]));
  expect(policy.join()).not.toMatch(/unsafe|http|\*/);
  const loaded = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address = ""]) => address);
  expect(loaded.length).toBeGreaterThan(5);
  for (const address of loaded.filter((one) => !one.startsWith("data:"))) {
    for (const base of ["/docs", "/api/docs"]) {
      const { pathname } = new URL(address, app.url + base);
      const [got, head] = [await call("GET", pathname, { token: null }), await call("HEAD", pathname, { token: null })];
      expect(got.status, String(pathname)).toBe(200);
      expect(head.status, String(pathname)).toBe(200);
      expect(head.text, String(pathname)).toBe("");
      if (pathname.includes("/assets/")) {
        expect(got.headers["content-type"]).toMatch(pathname.endsWith(".js") ? /^text\/javascript/ : /^text\/css/);
        expect(got.headers["x-content-type-options"]).toBe("nosniff");
      }
    }
  }
  expect((await call("GET", "/docs/assets/..%2fpackage.json", { token: null })).status).toBe(404);
});
