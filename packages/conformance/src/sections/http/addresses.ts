import { absent } from "../../assertions/pattern.ts";
import { NOTE } from "../../environment/models.ts";
import type { Kit } from "../../kit/kit.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import { ROUTES } from "../../protocol/routes.ts";
import { sendRaw } from "../../transport/raw.ts";

const notes = `/v1/models/${NOTE}`;
const invented = "conformance-nobody";

const READS = ["/v1/log?limit=1", "/v1/snapshot?limit=1", "/v1/schema", `${notes}?limit=1`, "/v1/datasources"];
const MISSING = ["/", "/v2/log", "/api/api/v1/log", `${notes}/x/nothing`, "/v1/commits/bulk/x", "/v1/nothing"];
const METHODS: readonly (readonly [method: string, path: string, allowed: readonly string[]])[] = [
  ["PUT", `${notes}/x`, ["GET", "PATCH", "DELETE"]],
  ["POST", `${notes}/x`, ["GET", "PATCH", "DELETE"]],
  ["DELETE", notes, ["GET", "POST"]],
  ["GET", "/v1/commits", ["POST"]],
  ["HEAD", "/v1/commits", ["POST"]],
  ["TRACE", "/v1/commits", ["POST"]],
  ["PUT", "/v1/log", ["GET"]],
  ["DELETE", "/v1/schema", ["GET", "POST"]],
  ["POST", "/livez", ["GET"]],
];

export const section: SuiteSection = {
  title: "Addresses, methods and headers",
  cases: [
    ...checkEach(
      READS,
      (path) => `[H2] GET ${path.split("?")[0]} gives the same answer under /api.`,
      async ({ get, answered, is }, path) => {
        const [bare, api] = [await get(path), await get(`/api${path}`)];
        answered(bare, 200);
        answered(api, 200);
        is(Object.keys(api.body).sort(), Object.keys(bare.body).sort(), "the keys of both answers");
      },
    ),
    check("A write under /api is the same write: the record is there under both addresses.", async (t) => {
      const id = t.id();
      t.answered(await t.post(`/api${notes}`, { id, data: { title: "x" } }), 200, { status: "confirmed" });
      t.answered(await t.get(`${notes}/${id}`), 200, { data: { title: "x" } });
      t.answered(await t.get(`/api${notes}/${id}`), 200, { data: { title: "x" } });
    }),
    ...checkEach(
      MISSING,
      (path) => `[H2] ${path} is no route: 404 route_not_found.`,
      async ({ get, refused }, path) => refused(await get(path), "route_not_found"),
    ),
    ...checkEach(
      METHODS,
      ([method, path]) => `[H2] ${method} ${path} is 405 method_not_allowed, and Allow lists the allowed methods.`,
      async ({ ask, answered, refused, that }, [method, path, allowed]) => {
        const answer = await ask(method, path);
        if (method === "HEAD") answered(answer, 405);
        else refused(answer, "method_not_allowed");
        const named = String(answer.headers.allow).split(/\s*,\s*/);
        that(
          allowed.every((one) => named.includes(one)) && !named.includes(method),
          `Allow to name ${allowed.join(", ")} and not ${method}`,
          answer.headers.allow,
        );
      },
    ),
    ...checkEach(
      ROUTES,
      ([method, route]) => `[H2] [H7] ${method} ${route} refuses other methods, and NUL in its path.`,
      async (t, [method, route]) => {
        const filled = route.replace("{model}", NOTE).replace(/\{\w+\}/g, "x");
        for (const prefix of ["", "/api"]) {
          const answer = t.refused(await t.ask("PUT", prefix + filled), "method_not_allowed");
          t.that(String(answer.headers.allow).split(", ").includes(method), `Allow to name ${method}`);
        }
        const isOperators = /organizations|secret_keys/.test(route);
        for (const parameter of route.match(/\{\w+\}/g) ?? []) {
          const path = route
            .replace(parameter, "a%00")
            .replace("{model}", NOTE)
            .replace(/\{\w+\}/g, "x");
          const { status } = await t.ask(method, path, isOperators ? { token: t.admin() } : {});
          t.that(status === 400 || status === 404, `400 or 404 to ${path}`, status);
        }
      },
    ),
    ...checkEach(
      [...READS, "/livez", "/readyz", "/openapi.json", "/docs/errors"],
      (path) => `[H2] HEAD ${path.split("?")[0]} answers what GET would, without the body.`,
      async (t, path) => {
        const [got, head] = [await t.get(path), await t.ask("HEAD", path)];
        t.answered(got, 200);
        t.answered(head, 200);
        t.is([head.text, head.headers["content-type"]], ["", got.headers["content-type"]], "body and content type");
      },
    ),
    check("HEAD of a record answers what GET would: 200, or 404 for a missing one.", async (t) => {
      const { path } = await t.note();
      t.answered(await t.ask("HEAD", path), 200);
      t.answered(await t.ask("HEAD", `${notes}/${invented}`), 404);
    }),
    ...checkEach(
      ["/livez", "/readyz", "/docs", "/docs/errors", "/openapi.json"],
      (path) => `${path} needs no token.`,
      async ({ get, answered }, path) => answered(await get(path, { token: null }), 200),
    ),
    check("/metrics is Prometheus text for this machine only: a request through a proxy does not get it.", metrics),
    check("[H1] The server makes x-request-id and never takes the caller's.", async (t) => {
      const mine = `req_${"a".repeat(24)}`;
      const answers = [
        await t.get("/livez", { headers: { "x-request-id": mine } }),
        await t.get("/v1/log?limit=1", { headers: { "x-request-id": mine } }),
        await t.get("/v1/nothing", { headers: { "x-request-id": mine } }),
      ];
      const ids = answers.map(({ headers }) => headers["x-request-id"]);
      t.that(!ids.includes(mine), "no answer to carry the id that was sent", ids);
      t.is(new Set(ids).size, ids.length, "how many different ids there are");
    }),
    check("[H1] The server ignores an unknown expectation.", async (t) => {
      const { path } = await t.note();
      for (const expect of ["the impossible", "100-continue, more"]) {
        t.answered(await t.get(path, { headers: { expect } }), 200);
        t.refused(await t.get(`${path}x`, { headers: { expect } }), "record_not_found");
      }
    }),
    ...checkEach(
      [`${notes}/${"x".repeat(600)}`, `${notes}/%E0%A4%A`, `${notes}/%ff`, "/v1/models/%zz"],
      (path) => `[H2] The malformed address ${path.slice(0, 30)} is 400.`,
      async (t, path) => t.refused(await t.get(path), "invalid_body"),
    ),
    check("A POST whose body is optional needs neither a body nor a content type.", async (t) => {
      const { path } = await t.note();
      t.answered(await t.post(`${path}/archive`), 200, { status: "confirmed" });
      t.answered(await t.post(`${path}/unarchive`), 200, { status: "confirmed" });
    }),
    check("[C12] A DELETE needs neither a body nor a content type, and takes both.", async (t) => {
      const { path } = await t.note();
      t.answered(await t.remove(path), 200, { status: "confirmed", missingIds: absent });
      for (const options of [
        { json: {} },
        { bytes: "", headers: { "content-type": "application/json" } },
        { bytes: "", headers: { "content-type": "text/plain" } },
      ])
        t.answered(await t.remove((await t.note()).path, options), 200, { status: "confirmed", missingIds: absent });
    }),
    check("OPTIONS needs no token: 204.", async (t) => {
      const preflight = { origin: "http://localhost:5173", "access-control-request-method": "POST" };
      t.answered(await t.ask("OPTIONS", notes, { token: null, headers: preflight }), 204);
    }),
    check("CORS never allows credentials: there are no cookies.", async (t) => {
      const answer = await t.get("/v1/log?limit=1", { headers: { origin: "http://localhost:5173" } });
      t.answered(answer, 200);
      t.is(answer.headers["access-control-allow-credentials"], undefined, "access-control-allow-credentials");
      t.is(answer.headers["set-cookie"], undefined, "set-cookie");
    }),
    check("access-control-allow-origin does not name a foreign origin.", async (t) => {
      const origin = "https://conformance.invalid";
      const answer = await t.get("/v1/log?limit=1", { headers: { origin } });
      const allowed = answer.headers["access-control-allow-origin"];
      t.that(allowed !== origin && allowed !== "*", "no permission for a foreign origin", allowed);
    }),
    check("[H5] A second copy of a header that may appear only once is refused.", async (t) => {
      for (const [header, code] of [
        ["authorization: Bearer x", "duplicate_header"],
        ["idempotency-key: a", "invalid_idempotency_key"],
      ] as const) {
        const text = await sendRaw(
          t.environment.url,
          `GET /v1/log HTTP/1.1\r\nhost: x\r\n${header}\r\n${header}x\r\nconnection: close\r\n\r\n`,
        );
        t.fits(text.split("\r\n")[0], /^HTTP\/1\.1 400 /, `the answer to two ${header.split(":")[0]} headers`);
        t.fits(text, /\r\nx-request-id: req_/i, "its headers");
        t.that(text.includes(`"${code}"`), code, text);
      }
    }),
    check("[H5] More than 100 headers: 431 headers_too_large.", async (t) => {
      // Node adds three: host, connection, authorization.
      const headers = Object.fromEntries(Array.from({ length: 98 }, (_, i) => [`x-conf-${i}`, "1"]));
      t.refused(await t.get("/livez", { headers }), "headers_too_large");
      const fewer = Object.fromEntries(Object.entries(headers).slice(1));
      t.answered(await t.get("/livez", { headers: fewer }), 200);
    }),
    check("[H5] More than 16 KiB of headers: 431 headers_too_large.", async (t) => {
      t.refused(await t.get("/livez", { headers: { "x-long": "x".repeat(17_000) } }), "headers_too_large");
      t.answered(await t.get("/livez", { headers: { "x-long": "x".repeat(15_000) } }), 200);
    }),
    ...checkEach(
      [
        ["is no HTTP at all", "hello\r\n\r\n"],
        [
          "has two lengths of its body",
          "POST /v1/commits HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
        ],
        [
          "has two different lengths",
          "POST /v1/commits HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ncontent-length: 5\r\n\r\n{}",
        ],
        ["has an unknown method", "BREW / HTTP/1.1\r\nhost: x\r\n\r\n"],
        ["has a space before a header's colon", "GET /livez HTTP/1.1\r\nhost : x\r\n\r\n"],
        ["has NUL in a header", "GET /livez HTTP/1.1\r\nhost: x\r\nx: a\0b\r\n\r\n"],
        [
          "has a malformed chunk size",
          "POST /v1/commits HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
        ],
      ] as const,
      ([what]) => `[H11] A request that ${what} is answered with the envelope, and the connection ends.`,
      async (t, [, bytes]) => {
        const text = await sendRaw(t.environment.url, bytes);
        t.fits(text, /^HTTP\/1\.1 4\d\d /, "the first line");
        t.fits(text, /\r\nconnection: close/i, "its headers");
        t.fits(text, /\r\nx-request-id: req_/i, "its headers");
        t.fits(
          JSON.parse(text.slice(text.indexOf("\r\n\r\n") + 4) || "null"),
          { type: "validation_error" },
          "the body",
        );
      },
    ),
    check("[H11] A HEAD that is no HTTP is answered without a body.", async (t) => {
      const bytes = Buffer.from(`HEAD ${notes}\u00e9 HTTP/1.1\r\nhost: x\r\n\r\n`, "latin1");
      t.fits(
        await sendRaw(t.environment.url, bytes),
        /^HTTP\/1\.1 400 [\s\S]*connection: close\r\n\r\n$/i,
        "the answer",
      );
    }),
    check("[H11] A complete request gets its own answer, whatever bytes follow it.", async (t) => {
      const remove = async (header: string) => {
        const { path } = await t.note();
        const authorization = `authorization: Bearer ${t.environment.key}`;
        const head = `DELETE ${path} HTTP/1.1\r\nhost: x\r\n${authorization}\r\n${header}content-length: 0\r\n\r\n`;
        return { path, text: await sendRaw(t.environment.url, `${head}{"claim":"x"}`) };
      };
      const [open, closed] = [await remove(""), await remove("connection: close\r\n")];
      const both = /^HTTP\/1\.1 200 .*"commit_receipt".*\}HTTP\/1\.1 400 .*"invalid_body"/s;
      t.fits(open.text, both, "the answers on the open connection");
      t.fits(closed.text, /^HTTP\/1\.1 200 .*"commit_receipt"/s, "the answer on the closed connection");
      t.that(!closed.text.includes("invalid_body"), "no second answer", closed.text);
      for (const { path } of [open, closed]) t.refused(await t.get(path), "record_not_found");
    }),
  ],
};

async function metrics(t: Kit): Promise<void> {
  const proxied = await t.get("/metrics", { token: null, headers: { "x-forwarded-for": "203.0.113.9" } });
  t.that(
    [401, 403, 404].includes(proxied.status),
    "401, 403 or 404 for a request with X-Forwarded-For",
    proxied.status,
  );
  const direct = await t.get("/metrics", { token: null });
  t.that(direct.status !== 404 || direct.body.code !== "route_not_found", "/metrics to be a route", direct.body);
  // A server with a metrics token, or on another machine, refuses a request without that token.
  if (direct.status === 200) {
    t.fits(String(direct.headers["content-type"]), /^text\/plain/, "the content type");
    t.fits(direct.text, /^# (HELP|TYPE) /m, "the text");
  } else t.that([401, 403].includes(direct.status), "200, or 401 or 403 if the server wants a token", direct.status);
}
