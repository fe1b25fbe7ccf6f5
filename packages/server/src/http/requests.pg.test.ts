import { connect } from "node:net";
import { endpoints, paths } from "@holdfast/sdk/protocol";
import { expect, test } from "vitest";
import { ADMIN, type Asking, rawRequest, startApp } from "../testing/app.ts";

const app = await startApp({ origins: ["https://app.example"] });
const { call, keys } = app;
const slide = { id: "s1", data: { deckId: "d1", title: "one" } };
const headOf = async () => (await call("GET", "/v1/log?limit=1")).body.stamp;
await call("POST", "/v1/models/slide", { json: slide });

/** Refused with this code, and nothing happened. */
async function refused(method: string, path: string, asking: Asking, status: number, code: string, param?: string) {
  const before = await headOf();
  const answer = await call(method, path, asking);
  expect({ status: answer.status, code: answer.body.code, param: answer.body.param }).toEqual({ status, code, param });
  expect(await headOf()).toBe(before);
  return answer;
}
const POST = "/v1/models/slide";

test("[H1] an error says what, why and under which request", async () => {
  const answer = await refused(
    "POST",
    POST,
    { json: { id: "s2", data: { colour: 1 } } },
    400,
    "unknown_field",
    "data.colour",
  );
  expect(answer.body).toMatchObject({
    type: "validation_error",
    receipt: { status: "rejected", success: false, error: { code: "unknown_field", field: "data.colour" } },
  });
  const missing = await call("GET", `${POST}/nobody`);
  expect([missing.status, missing.body.type, missing.body.code]).toEqual([404, "not_found_error", "record_not_found"]);
  const one = await call("GET", "/livez", { headers: { "x-request-id": "req_mine" } });
  expect(one.headers["x-request-id"]).not.toBe("req_mine");
});

test("[H1] an expectation that nobody knows is passed over: the answer is what it would be without", async () => {
  for (const expectation of ["the impossible", "100-continue, more"]) {
    const headers = { expect: expectation };
    expect((await call("GET", `${POST}/s1`, { headers })).status).toBe(200);
    await refused("GET", `${POST}/nobody`, { headers }, 404, "record_not_found", "id");
  }
});

test("[H2] every route of the table answers under both addresses, wants a token, and refuses other methods", async () => {
  for (const [name, [method, path]] of Object.entries(paths)) {
    const address = path.replace(":model", "slide").replace(":id", "s1");
    for (const prefix of ["", "/api"]) {
      const stranger = await call(method, prefix + address, { token: null });
      expect([name, stranger.status, stranger.body.code, stranger.headers["www-authenticate"]]).toEqual([
        name,
        401,
        "auth_no_credentials",
        "Bearer",
      ]);
      const wrong = await call("PUT", prefix + address);
      expect([name, wrong.status, wrong.body.code]).toEqual([name, 405, "method_not_allowed"]);
      expect(wrong.headers.allow?.split(", ")).toContain(method);
    }
  }
});

test.each([
  ["PUT", "/v1/models/slide/s1", 405, "DELETE, GET, HEAD, PATCH"],
  ["POST", "/v1/models/slide/s1", 405, "DELETE, GET, HEAD, PATCH"],
  ["DELETE", "/v1/models/slide", 405, "GET, HEAD, POST"],
  ["GET", "/v1/commits", 405, "POST"],
  ["HEAD", "/v1/commits", 405, "POST"],
  ["TRACE", "/v1/commits", 405, "POST"],
  ["POST", "/livez", 405, "GET, HEAD"],
  ["GET", "/", 404, undefined],
  ["GET", "/v2/models/slide", 404, undefined],
  ["GET", "/api/api/v1/log", 404, undefined],
  ["GET", "/v1/models/slide/s1/nothing", 404, undefined],
  ["POST", "/v1/commits/bulk/x", 404, undefined],
])("[H2] %s %s is %i", async (method, path, status, allow) => {
  const answer = await call(method, path);
  expect([answer.status, answer.headers.allow]).toEqual([status, allow]);
  if (method !== "HEAD") expect(answer.body.code).toBe(status === 405 ? "method_not_allowed" : "route_not_found");
});

test("[H2] HEAD answers what GET would, without the body", async () => {
  for (const path of [
    "/v1/models/slide",
    "/v1/models/slide/s1",
    "/v1/log",
    "/v1/snapshot",
    "/v1/schema",
    "/livez",
    "/openapi.json",
  ]) {
    const [got, head] = [await call("GET", path), await call("HEAD", path)];
    expect([path, head.status, head.text, head.headers["content-type"]]).toEqual([
      path,
      200,
      "",
      got.headers["content-type"],
    ]);
  }
  expect((await call("HEAD", "/v1/models/slide/nobody")).status).toBe(404);
});

test.each<[string, Record<string, string>, string]>([
  ["none", {}, "auth_no_credentials"],
  ["Basic", { authorization: "Basic dXNlcjpwYXNz" }, "apikey_invalid"],
  ["nothing after Bearer", { authorization: "Bearer " }, "apikey_invalid"],
  ["two spaces", { authorization: `Bearer  ${keys.live}` }, "apikey_invalid"],
  ["two words", { authorization: `Bearer ${keys.live} x` }, "apikey_invalid"],
  ["no Bearer", { authorization: keys.live }, "apikey_invalid"],
  ["10 kB", { authorization: `Bearer ${"x".repeat(10_000)}` }, "apikey_invalid"],
  ["beyond ASCII", { authorization: "Bearer sk_live_\u00e9" }, "apikey_invalid"],
  [
    "one character off",
    { authorization: `Bearer ${keys.live.slice(0, -1)}${keys.live.endsWith("0") ? "1" : "0"}` },
    "apikey_invalid",
  ],
  ["another prefix", { authorization: `Bearer ${keys.live.replace("sk_live_", "sk_test_")}` }, "apikey_invalid"],
  ["well formed and unknown", { authorization: `Bearer sk_live_${"0".repeat(30)}1yMVfD` }, "apikey_invalid"],
  ["a capability that nobody minted", { authorization: `Bearer rk_${"0".repeat(36)}` }, "apikey_invalid"],
  ["the operator's", { authorization: `Bearer ${ADMIN}` }, "apikey_invalid"],
])("[H3] a token that is none: %s", async (_, headers, code) => {
  const answer = await call("GET", "/v1/log", { token: null, headers });
  expect([answer.status, answer.body.code, answer.headers["www-authenticate"]]).toEqual([401, code, "Bearer"]);
});

test("[H3] the scheme's case does not matter", async () => {
  expect(
    (await call("GET", "/v1/log", { token: null, headers: { authorization: `bearer ${keys.live}` } })).status,
  ).toBe(200);
});

test.each([
  ["/v1/log?token=", ""],
  ["/livez?x=", ""],
  ["/nowhere?a=1&b=", "&c=2"],
  ["/v1/log?", "=1"],
])("[H3] a token in the address is refused whatever it is called: %s…%s", async (before, after) => {
  for (const token of [keys.live, keys.live.replace("s", "%73")]) {
    const answer = await call("GET", before + token + after);
    expect([answer.status, answer.body.code]).toEqual([400, "token_in_query"]);
    expect(answer.text).not.toContain(keys.live);
  }
});

test.each<[string, Asking, number, string]>([
  ["no body", {}, 400, "invalid_body"],
  ["an empty body", { bytes: "" }, 400, "invalid_body"],
  ["text", { bytes: "{}", headers: { "content-type": "text/plain" } }, 415, "unsupported_media_type"],
  [
    "latin1",
    { bytes: "{}", headers: { "content-type": "application/json; charset=latin1" } },
    415,
    "unsupported_media_type",
  ],
  [
    "a form",
    { bytes: "a=1", headers: { "content-type": "application/x-www-form-urlencoded" } },
    415,
    "unsupported_media_type",
  ],
  ["no type", { bytes: "{}", headers: { "content-type": "" } }, 415, "unsupported_media_type"],
  ["packed", { bytes: "{}", headers: { "content-encoding": "gzip" } }, 415, "unsupported_media_type"],
  ["cut off", { bytes: '{"id":"s9","data":{' }, 400, "invalid_json"],
  ["a comma too many", { bytes: '{"id":"s9",}' }, 400, "invalid_json"],
  ["two values", { bytes: "{}{}" }, 400, "invalid_json"],
  ["single quotes", { bytes: "{'id':1}" }, 400, "invalid_json"],
  ["NaN", { bytes: '{"id":NaN}' }, 400, "invalid_json"],
  ["a comment", { bytes: "{}//" }, 400, "invalid_json"],
  ["bytes that are no UTF-8", { bytes: Buffer.from([0x22, 0xff, 0x22]) }, 400, "invalid_encoding"],
  ["a surrogate as UTF-8", { bytes: Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]) }, 400, "invalid_encoding"],
  ["UTF-16", { bytes: Buffer.from("{}", "utf16le") }, 400, "invalid_json"],
  ["__proto__", { bytes: '{"__proto__":{"admin":true},"id":"s9","data":{}}' }, 400, "invalid_value"],
  ["__proto__ within", { bytes: '{"id":"s9","data":{"a":{"__proto__":{"admin":true}}}}' }, 400, "invalid_value"],
  ["__proto__ in disguise", { bytes: '{"id":"s9","data":{"\\u005f_proto__":{"admin":true}}}' }, 400, "invalid_value"],
  ["constructor.prototype", { bytes: '{"constructor":{"prototype":{"admin":true}}}' }, 400, "missing_field"],
  ["a list", { json: [] }, 400, "invalid_body"],
  ["null", { json: null }, 400, "invalid_body"],
  ["a number", { json: 1 }, 400, "invalid_body"],
])("[H4] a body that is none: %s", async (_, asking, status, code) => {
  const answer = await call("POST", POST, asking);
  expect([answer.status, answer.body.code]).toEqual([status, code]);
  expect(({} as { admin?: boolean }).admin).toBeUndefined();
});

test.each<[string, unknown, string, string | undefined]>([
  ["an unknown key", { ...slide, id: "s9", extra: 1 }, "unknown_field", "extra"],
  ["no data", { id: "s9" }, "missing_field", "data"],
  ["data that is null", { id: "s9", data: null }, "missing_field", "data"],
  ["data that is a list", { id: "s9", data: [] }, "invalid_type", "data"],
  ["data that is text", { id: "s9", data: "{}" }, "invalid_type", "data"],
  ["no id", { data: {} }, "missing_field", "id"],
  ["an id that is a number", { id: 5, data: {} }, "invalid_type", "id"],
  ["an empty id", { id: "", data: {} }, "invalid_id", "id"],
  ["readAt as text", { id: "s9", data: {}, readAt: "1" }, "invalid_type", "readAt"],
  ["readAt below zero", { id: "s9", data: {}, readAt: -1 }, "invalid_value", "readAt"],
  ["readAt with a fraction", { id: "s9", data: {}, readAt: 1.5 }, "invalid_type", "readAt"],
  ["an unknown policy", { id: "s9", data: {}, onStale: "maybe" }, "invalid_value", "onStale"],
  ["a policy of every object's", { id: "s9", data: {}, onStale: "toString" }, "invalid_value", "onStale"],
  ["a client id with a space", { id: "s9", data: {}, clientId: "a b" }, "invalid_value", "clientId"],
  ["a client id of 65", { id: "s9", data: {}, clientId: "a".repeat(65) }, "invalid_value", "clientId"],
  ["a name with a space", { id: "s9", data: {}, clientTxId: "a b" }, "invalid_value", "clientTxId"],
  ["NUL", { id: "s9", data: { title: "a\u0000" } }, "invalid_value", "data.title"],
  ["half a surrogate pair", { id: "s9", data: { title: "\ud800" } }, "invalid_value", "data.title"],
  ["a number as text", { id: "s9", data: { order: "5" } }, "invalid_type", "data.order"],
])("[H4] a body of another shape: %s", async (_, json, code, param) => {
  await refused("POST", POST, { json }, 400, code, param);
});

test("[H4] 100 000 wrong fields cost one answer, soon", async () => {
  const bytes = `{${Array.from({ length: 90_000 }, (_, i) => `"k${i}":1`).join(",")}}`;
  const begun = performance.now();
  await refused("POST", POST, { bytes }, 400, "invalid_value");
  expect(performance.now() - begun).toBeLessThan(2_000);
});

test("[H4] of two equal keys the last one counts, and a byte order mark is skipped", async () => {
  const bytes = '\ufeff{"id":"nobody","id":"twice","data":{"title":"a","title":"b"}}';
  expect((await call("POST", POST, { bytes })).status).toBe(200);
  expect((await call("GET", `${POST}/twice`)).body.data).toMatchObject({ id: "twice", title: "b" });
});

test("[H9] numbers that JSON can spell and nobody can keep", async () => {
  const json = (value: string) => `{"id":"num","data":{"order":${value}}}`;
  for (const value of ["9007199254740993", "-9007199254740992", "1e400", "-1e999", "1e300"])
    await refused("POST", POST, { bytes: json(value) }, 400, "invalid_value", "data.order");
  for (const [value, kept] of [
    ["-0", 0],
    ["1e-400", 0],
    ["5.0", 5],
    ["5e-324", 5e-324],
    ["9007199254740991", 2 ** 53 - 1],
  ] as const) {
    const id = `num-${value.replaceAll(/[^0-9e-]/g, "_")}`;
    await call("POST", POST, { bytes: `{"id":"${id}","data":{"order":${value}}}` });
    expect([value, ((await call("GET", `${POST}/${id}`)).body.data as { order: number }).order + 0]).toEqual([
      value,
      kept,
    ]);
  }
});

test("[H9] 64 levels pass, 65 and a million do not", async () => {
  const deep = (levels: number) =>
    `{"id":"deep${levels}","data":{"attachmentId":"a","config":${"[".repeat(levels - 2)}${"]".repeat(levels - 2)}}}`;
  expect((await call("POST", "/v1/models/ingestionjob", { bytes: deep(64) })).status).toBe(200);
  const answer = await call("POST", "/v1/models/ingestionjob", { bytes: deep(65) });
  expect([answer.status, answer.body.code]).toEqual([400, "invalid_value"]);
  for (const bytes of [
    "[".repeat(500_000) + "]".repeat(500_000),
    `${'{"a":'.repeat(150_000)}1${"}".repeat(150_000)}`,
  ]) {
    const deepest = await call("POST", POST, { bytes });
    expect([deepest.status, deepest.body.code]).toEqual([400, "invalid_value"]);
  }
  const million = await call("POST", "/v1/commits", { bytes: "[".repeat(1_000_000) + "]".repeat(1_000_000) });
  expect([million.status, million.body.code]).toEqual([400, "invalid_value"]);
  expect((await call("GET", "/livez")).status).toBe(200);
});

test("[H9] 1 000 keys in one object pass, 1 001 do not", async () => {
  const config = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, i]));
  const post = (count: number) =>
    call("POST", "/v1/models/ingestionjob", { json: { id: `keys${count}`, data: { config: config(count) } } });
  expect((await post(1_000)).status).toBe(200);
  expect((await post(1_001)).body).toMatchObject({ code: "invalid_value", param: "data.config" });
});

/** A body that has its size from the space behind it. */
const sized = (bytes: number, batch = false) => {
  const create = { id: `big${bytes}`, data: { title: "x" } };
  const body = batch ? { operations: [{ action: "create", model: "slide", ...create }] } : create;
  return JSON.stringify(body).padEnd(bytes);
};
const MiB = 1024 * 1024;

test("[H5] a body of 1 MiB passes, one byte more does not; a batch may have 4 MiB", async () => {
  expect((await call("POST", POST, { bytes: sized(MiB) })).status).toBe(200);
  await refused("POST", POST, { bytes: sized(MiB + 1) }, 413, "request_too_large");
  expect((await call("POST", "/v1/commits", { bytes: sized(4 * MiB, true) })).status).toBe(200);
  await refused("POST", "/v1/commits", { bytes: sized(4 * MiB + 1, true) }, 413, "request_too_large");
});

test("[H13] a 413 reaches who sends on without listening: the rest is read and forgotten", async () => {
  const headers = { authorization: `Bearer ${keys.live}`, "content-type": "application/json" };
  for (let i = 0; i < 5; i += 1) {
    const answer = await fetch(app.url + POST, { method: "POST", headers, body: "x".repeat(20 * MiB) });
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([413, "request_too_large"]);
    const parts = new ReadableStream({
      start(controller) {
        for (let n = 0; n < 20; n += 1) controller.enqueue(Buffer.alloc(MiB, "x"));
        controller.close();
      },
    });
    const streamed = await fetch(app.url + POST, {
      method: "POST",
      headers,
      body: parts,
      duplex: "half",
    } as RequestInit);
    expect(streamed.status).toBe(413);
  }
  // One that first sends all of it, slowly, and then listens.
  const { hostname, port } = new URL(app.url);
  const socket = connect(Number(port), hostname);
  const failed = new Promise<Error | undefined>((resolve) => {
    socket.on("error", resolve);
    socket.on("end", () => resolve(undefined));
  });
  socket.pause();
  socket.write(
    `POST ${POST} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${keys.live}\r\ncontent-type: application/json\r\ncontent-length: ${8 * MiB}\r\n\r\n`,
  );
  for (let n = 0; n < 32; n += 1) {
    socket.write(Buffer.alloc(MiB / 4, "x"));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  let heard = "";
  socket.on("data", (chunk: Buffer) => {
    heard += chunk.toString();
    if (heard.includes("request_too_large")) socket.end();
  });
  socket.resume();
  expect(await failed).toBeUndefined();
  expect(heard).toMatch(/^HTTP\/1.1 413/);
  // What never ends is not read for ever.
  const endless = `POST ${POST} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${keys.live}\r\ncontent-type: application/json\r\ncontent-length: 999999999\r\n\r\n`;
  const text = await rawRequest(app.url, endless, 15_000);
  expect(text).toMatch(/^HTTP\/1.1 413[\s\S]*connection: close/i);
});

test("[H5] a body without a length is cut off at the limit too", async () => {
  await refused(
    "POST",
    POST,
    { bytes: sized(MiB + 1), headers: { "transfer-encoding": "chunked" } },
    413,
    "request_too_large",
  );
  expect(
    (await call("POST", POST, { bytes: sized(MiB - 7), headers: { "transfer-encoding": "chunked" } })).status,
  ).toBe(200);
});

test("[H5] 100 headers pass, more do not, nor 16 KiB of them", async () => {
  const some = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${i}`, "1"]));
  // Three come by themselves: host, connection, authorization.
  expect((await call("GET", "/livez", { headers: some(97) })).status).toBe(200);
  const many = await call("GET", "/livez", { headers: some(98) });
  expect([many.status, many.body.code]).toEqual([431, "headers_too_large"]);
  expect((await call("GET", "/livez", { headers: { "x-long": "x".repeat(15_000) } })).status).toBe(200);
  const large = await call("GET", "/livez", { headers: { "x-long": "x".repeat(17_000) } });
  expect([large.status, large.body.code]).toEqual([431, "headers_too_large"]);
});

test.each([
  ["no HTTP at all", "hello\r\n\r\n"],
  ["an unknown method", "BREW / HTTP/1.1\r\nhost: x\r\n\r\n"],
  [
    "two lengths of a body",
    "POST /v1/commits HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
  ],
  ["two different lengths", "POST /v1/commits HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\ncontent-length: 5\r\n\r\n{}"],
  ["a space before the colon", "GET /livez HTTP/1.1\r\nhost : x\r\n\r\n"],
  ["a bare line feed in a header", "GET /livez HTTP/1.1\r\nhost: x\r\nx: a\0b\r\n\r\n"],
  [
    "a chunk of a strange size",
    "POST /v1/commits HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
  ],
])("[H11] %s: an envelope, and the connection ends", async (_, bytes) => {
  const text = await rawRequest(app.url, bytes);
  expect(text).toMatch(/^HTTP\/1\.1 4\d\d /);
  expect(text).toMatch(/x-request-id: req_/);
  expect(text.toLowerCase()).toContain("connection: close");
  expect(JSON.parse(text.slice(text.indexOf("\r\n\r\n") + 4))).toMatchObject({ type: "validation_error" });
});

test("[H11] a whole request gets its own answer, whatever comes behind it", async () => {
  const asked = (id: string, header = "") =>
    rawRequest(
      app.url,
      `DELETE ${POST}/${id} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${keys.live}\r\n${header}content-length: 0\r\n\r\n{"claim":"x"}`,
    );
  for (const id of ["r1", "r2"]) await call("POST", POST, { json: { id, data: {} } });
  const before = Number(await headOf());
  const both = await asked("r1");
  expect(both).toMatch(/^HTTP\/1\.1 200 .*"commit_receipt".*\}HTTP\/1\.1 400 .*"invalid_body"/s);
  const one = await asked("r2", "connection: close\r\n");
  expect(one).toMatch(/^HTTP\/1\.1 200 .*"commit_receipt"/s);
  expect(one).not.toContain("invalid_body");
  expect(await headOf()).toBe(before + 2);
});

test("[H11] a HEAD that is no HTTP is answered without a body, too", async () => {
  const text = await rawRequest(app.url, Buffer.from(`HEAD ${POST}\u00e9 HTTP/1.1\r\nhost: x\r\n\r\n`, "latin1"));
  expect(text).toMatch(/^HTTP\/1\.1 400 .*connection: close\r\n\r\n$/s);
});

test("[H7] what no text of ours may hold is not in any address: whatever is named so is not there", async () => {
  for (const [name, [method, path]] of Object.entries(paths)) {
    const token =
      (endpoints as Record<string, { audience: string }>)[name]?.audience === "operator" ? ADMIN : keys.live;
    for (const parameter of path.match(/:[A-Za-z]+/g) ?? []) {
      const address = path.replace(parameter, "a%00").replace(":model", "slide").replace(/:\w+/, "s1");
      const json =
        name === "createRecord" ? { id: "s9", data: {} } : name === "updateRecord" ? { data: {} } : undefined;
      const answer = await call(method, address, { token, json });
      expect([name, parameter, answer.status]).toEqual([name, parameter, expect.toBeOneOf([400, 404])]);
    }
  }
});

test("[H5] a header that may come once came twice", async () => {
  const twice = (header: string) =>
    rawRequest(
      app.url,
      `POST ${POST} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${keys.live}\r\ncontent-type: application/json\r\n${header}\r\n${header}\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}`,
    );
  expect(await twice("idempotency-key: a")).toContain('"invalid_idempotency_key"');
  expect(await twice(`authorization: Bearer ${keys.live}`)).toContain('"duplicate_header"');
});

test.each([
  ["limit=abc", "invalid_limit", "limit"],
  ["limit=1e2", "invalid_limit", "limit"],
  ["limit=0", "invalid_limit", "limit"],
  ["limit=-1", "invalid_limit", "limit"],
  ["limit=101", "invalid_limit", "limit"],
  ["limit=", "invalid_limit", "limit"],
  ["limit=%31%20", "invalid_limit", "limit"],
  ["limit=0x10", "invalid_limit", "limit"],
  ["limit=01", "invalid_limit", "limit"],
  ["limit=５", "invalid_limit", "limit"],
  ["limit=5&limit=5", "invalid_limit", "limit"],
  ["order=up", "invalid_value", "order"],
  ["order=", "invalid_value", "order"],
  ["order=asc&order=asc", "invalid_value", "order"],
  ["state=gone", "invalid_value", "state"],
  ["ids=a,,b", "invalid_id", "ids"],
  ["ids=", "invalid_id", "ids"],
  ["ids=a%00", "invalid_value", "ids"],
  ["nothing=1", "unknown_column", "nothing"],
  ["toString=1", "unknown_column", "toString"],
  ["__proto__=1", "unknown_column", "__proto__"],
  ["order_by=ID", "unknown_column", "order_by"],
  ["order_by=", "unknown_column", "order_by"],
  ["order_by=password_hash", "unknown_column", "order_by"],
  ["order_by=attachmentId", "unknown_column", "order_by"],
  ["order_by=id;drop%20table%20x", "unknown_column", "order_by"],
  ["order_by=id--", "unknown_column", "order_by"],
  ["order_by=id%20desc,%20pg_sleep(10)", "unknown_column", "order_by"],
  ["order_by=%22id%22", "unknown_column", "order_by"],
  ["order_by=(select%201)", "unknown_column", "order_by"],
  ["order_by=title'", "unknown_column", "order_by"],
  ["order_by=title%00", "invalid_value", "order_by"],
  ["order_by=data", "unknown_column", "order_by"],
  ["order_by=sync_id", "unknown_column", "order_by"],
  ["order_by=tenant", "unknown_column", "order_by"],
  ["starting_after=x", "invalid_cursor", "starting_after"],
  ["starting_after=", "invalid_cursor", "starting_after"],
  ["starting_after=eyJpZCI6ImEifQ.AAAAAAAAAAAAAAAAAAAAAA", "invalid_cursor", "starting_after"],
  ["starting_after=%00", "invalid_cursor", "starting_after"],
])("[H6] a list asked with %s is refused", async (search, code, param) => {
  const answer = await call("GET", `${POST}?${search}`.replaceAll("５", "%EF%BC%95"));
  expect([answer.status, answer.body.code, answer.body.param]).toEqual([400, code, param]);
});

test.each([
  ["/v1/log?after=-1", "after"],
  ["/v1/log?after=1.0", "after"],
  ["/v1/log?after=99999999999999999", "after"],
  ["/v1/log?wait=25001", "wait"],
  ["/v1/log?limit=1001", "limit"],
  ["/v1/log?limit=0", "limit"],
  ["/v1/log?since=1", "since"],
  ["/v1/log?group=deck", "group"],
  ["/v1/log?group=deck:%00", "group"],
  ["/v1/snapshot?limit=10001", "limit"],
  ["/v1/snapshot?limit=0", "limit"],
  ["/v1/snapshot?group=deck:%00", "group"],
  ["/v1/snapshot?model=nothing", "model"],
  ["/v1/snapshot?model=%00", "model"],
  ["/v1/snapshot?starting_after=x", "starting_after"],
  ["/v1/schema?x=1", "x"],
  ["/v1/models/slide/s1?x=1", "x"],
])("[H6] %s is refused, and the parameter named", async (path, param) => {
  const answer = await call("GET", path);
  expect([answer.status, answer.body.param]).toEqual([400, param]);
});

test("[H6] limits at their edges pass", async () => {
  for (const path of [
    `${POST}?limit=1`,
    `${POST}?limit=100`,
    "/v1/log?limit=1000&wait=0",
    "/v1/snapshot?limit=10000",
    `${POST}?ids=${Array(100).fill("a").join(",")}`,
  ])
    expect([path, (await call("GET", path)).status]).toEqual([path, 200]);
  expect((await call("GET", `${POST}?ids=${Array(101).fill("a").join(",")}`)).status).toBe(400);
});

test("[H10] pages of allowed origins may call, others get no permission", async () => {
  const preflight = (origin: string | undefined, path = POST) =>
    call("OPTIONS", path, {
      token: null,
      headers: {
        ...(origin !== undefined && { origin }),
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type,idempotency-key",
      },
    });
  const allowed = await preflight("https://app.example");
  expect(allowed.status).toBe(204);
  expect(allowed.headers["access-control-allow-origin"]).toBe("https://app.example");
  expect(allowed.headers["access-control-allow-methods"]).toContain("PATCH");
  expect(allowed.headers["access-control-allow-headers"]).toContain("idempotency-key");
  expect(allowed.headers["access-control-allow-credentials"]).toBeUndefined();
  for (const origin of ["https://evil.example", "http://localhost:3000", "null", undefined]) {
    const answer = await preflight(origin);
    expect([origin, answer.status, answer.headers["access-control-allow-origin"]]).toEqual([origin, 204, undefined]);
  }
  const got = await call("GET", "/v1/log", { headers: { origin: "https://app.example" } });
  expect(got.headers["access-control-expose-headers"]?.split(", ")).toEqual(
    expect.arrayContaining(["x-request-id", "idempotent-replayed", "holdfast-held", "retry-after", "ratelimit-limit"]),
  );
  const error = await call("GET", "/v1/log", { token: null, headers: { origin: "https://app.example" } });
  expect(error.headers["access-control-allow-origin"]).toBe("https://app.example");
  expect(error.headers.vary).toMatch(/origin/i);
});

test("[H8] an id of 255 characters is read and written, one of 256 is refused", async () => {
  const id = "x".repeat(255);
  expect((await call("POST", POST, { json: { id, data: {} } })).status).toBe(200);
  expect((await call("GET", `${POST}/${id}`)).body.id).toBe(id);
  expect((await call("GET", `${POST}/${id}x`)).body.code).toBe("invalid_id");
  await refused("POST", POST, { json: { id: `${id}x`, data: {} } }, 400, "invalid_id", "id");
});

test.each(["a%2Fb", "a%20b", "a%22", "a%27", "%5C", "%F0%9F%98%80", "a%00", "%2e", "a%3Fb", "a%23b"])(
  "[H8] an id in the address may not be %s",
  async (id) => {
    for (const [method, path] of [
      ["GET", ""],
      ["PATCH", ""],
      ["DELETE", ""],
      ["POST", "/archive"],
    ] as const) {
      const answer = await call(
        method,
        `${POST}/${id}${path}`,
        method === "PATCH" ? { json: { data: { title: "x" } } } : {},
      );
      // A dot is a step in an address: the path is then another one.
      expect([400, 404, 405]).toContain(answer.status);
    }
  },
);

test("[H2] a malformed address is refused", async () => {
  for (const path of [
    `/v1/models/slide/${"x".repeat(600)}`,
    "/v1/models/slide/%E0%A4%A",
    "/v1/models/%zz",
    "/v1/models/slide/%ff",
  ]) {
    const answer = await call("GET", path);
    expect([path, answer.status]).toEqual([path, 400]);
  }
});

test("[C12] a delete needs no body and takes one", async () => {
  for (const [id, asking] of [
    ["del1", {}],
    ["del2", { json: {} }],
    ["del3", { json: { readAt: null, onStale: null, claim: null, idempotencyKey: "del3" } }],
    ["del4", { bytes: "", headers: { "content-type": "application/json" } }],
    ["del5", { bytes: "", headers: { "content-type": "text/plain" } }],
  ] as const) {
    await call("POST", POST, { json: { id, data: {} } });
    const answer = await call("DELETE", `${POST}/${id}`, asking);
    expect([id, answer.status, answer.body.status]).toEqual([id, 200, "confirmed"]);
    expect((await call("GET", `${POST}/${id}`)).status).toBe(404);
  }
  await refused("DELETE", `${POST}/s1`, { json: { data: {} } }, 400, "unknown_field", "data");
  await refused("DELETE", `${POST}/s1`, { json: { readAt: 0 } }, 409, "stale_context");
});

test("[C12] other words for the same: intent, force, flag, merge, and null for absent", async () => {
  await call("POST", POST, {
    json: { id: "alias", data: { title: "1" }, claim: null, onStale: null, readAt: null, clientId: null },
  });
  const readAt = Number((await call("GET", `${POST}/alias`)).body.syncId);
  await call("PATCH", `${POST}/alias`, { json: { data: { title: "2" } } });
  const write = (onStale: unknown) =>
    call("PATCH", `${POST}/alias`, { json: { data: { title: "3" }, readAt, onStale } });
  for (const onStale of [null, "reject"]) expect((await write(onStale)).body.code).toBe("stale_context");
  for (const onStale of ["notify", "flag", "merge"]) {
    const held = await write(onStale);
    expect([held.status, held.headers["holdfast-held"], held.body.status]).toEqual([200, "true", "rejected"]);
  }
  expect((await write("force")).body.status).toBe("confirmed");
  expect((await call("PATCH", `${POST}/alias`, { json: { data: { title: "4" }, intent: "claim_1" } })).body.code).toBe(
    "claim_lost",
  );
  expect((await call("PATCH", `${POST}/alias`, { json: { data: { title: "4" }, intent: null } })).body.status).toBe(
    "confirmed",
  );
  const batch = await call("POST", "/v1/commits", {
    json: {
      clientTxId: null,
      reads: [{ model: "slide", id: "alias", group: null, fields: null, readAt: 99, onStale: "force" }].slice(1),
      operations: [
        { type: "UPDATE", model: "Slide", id: "alias", input: { title: "5" }, readAt: null, claim: null },
        { type: "DELETE", model: "SLIDE", id: "never", data: null },
      ],
    },
  });
  expect(batch.body).toMatchObject({ status: "confirmed", missingIds: ["never"], ops: 2 });
  const claimed = await call("POST", "/v1/commits", {
    json: { claim: "c1", operations: [{ action: "delete", model: "slide", id: "alias" }] },
  });
  expect([claimed.body.code, claimed.body.param]).toEqual(["claim_lost", "operations[0].claim"]);
});

test("[C11] favorite may be made without an id, and has a dialect of its own", async () => {
  const made = await call("POST", "/v1/models/favorite", { json: { data: { recordId: "r" } }, key: "fav" });
  expect(made.body).toMatchObject({ status: "confirmed", id: expect.stringMatching(/^fav_[0-9A-Za-z]{24}$/) });
  const again = await call("POST", "/v1/models/favorite", { json: { data: { recordId: "r" } }, key: "fav" });
  expect(again.text).toBe(made.text);
  const id = String(made.body.id);
  const patch = (json: unknown) => call("PATCH", `/v1/models/favorite/${id}`, { json });
  const head = await headOf();
  for (const json of [{}, { id: null }, { id }, { data: null }, { data: {} }])
    expect([json, (await patch(json)).body.status]).toEqual([json, "confirmed"]);
  expect(await headOf()).toBe(head);
  expect((await patch({ id: "other", data: {} })).body.code).toBe("id_mismatch");
  expect(
    (await patch({ data: { order: 1 }, intent: null, onStale: "merge", readAt: null, idempotencyKey: "k" })).body
      .status,
  ).toBe("confirmed");
  const nulled = await call("POST", "/v1/models/favorite", { json: { id: null, data: { recordId: "x" } } });
  expect(nulled.body).toMatchObject({ status: "confirmed", id: expect.stringMatching(/^fav_/) });
  await refused("POST", POST, { json: { id: null, data: {} } }, 400, "missing_field", "id");
});

test("[C11] a batch may make favorites without ids: the receipt names the first, a replay makes none", async () => {
  const make = (recordId: string, more = {}) => ({ action: "create", model: "Favorite", data: { recordId }, ...more });
  const listed = async (recordId: string) => {
    const { body } = await call("GET", `/v1/models/favorite?filter[recordId]=${recordId}`);
    return (body.data as { id: string }[]).map(({ id }) => id);
  };
  const json = { operations: [make("b0", { id: "mine" }), make("b1", { id: null }), make("b2")] };
  const made = await call("POST", "/v1/commits", { json, key: "favs" });
  expect(made.body).toMatchObject({ status: "confirmed", ops: 3, id: expect.stringMatching(/^fav_[0-9A-Za-z]{24}$/) });
  expect(await listed("b1")).toEqual([made.body.id]);
  expect(await listed("b2")).toEqual([expect.stringMatching(/^fav_/)]);
  const again = await call("POST", "/v1/commits", { json, key: "favs" });
  expect([again.text, again.headers["idempotent-replayed"]]).toEqual([made.text, "true"]);

  // An operation's own key stands for what was asked; what is not made again is not named.
  const keyed = { operations: [make("b3", { idempotencyKey: "once" })] };
  const once = await call("POST", "/v1/commits", { json: keyed });
  const twice = await call("POST", "/v1/commits", { json: keyed });
  expect([once.body.status, twice.body.status, twice.body.id]).toEqual(["confirmed", "confirmed", undefined]);
  expect(await listed("b3")).toEqual([once.body.id]);

  const bulk = { commits: [{ clientTxId: "f1", operations: [make("b4")] }] };
  const [item] = (await call("POST", "/v1/commits/bulk", { json: bulk })).body.data as { id: string }[];
  expect(await listed("b4")).toEqual([item?.id]);

  for (const operation of [
    { action: "create", model: "slide", data: {} },
    { action: "update", model: "favorite", data: {} },
    { action: "delete", model: "favorite" },
  ])
    await refused(
      "POST",
      "/v1/commits",
      { json: { operations: [operation] } },
      400,
      "missing_field",
      "operations[0].id",
    );
  expect((await call("DELETE", `/v1/models/favorite/${made.body.id}`)).body.status).toBe("confirmed");
});

test("[C10] favorites without ids count in a bulk as all operations do", async () => {
  const operations = Array.from({ length: 100 }, () => ({ action: "create", model: "favorite", data: {} }));
  const commits = Array.from({ length: 11 }, (_, at) => ({ clientTxId: `many${at}`, operations }));
  await refused("POST", "/v1/commits/bulk", { json: { commits } }, 400, "too_many_operations", "commits");
});

test("[C6] elsewhere an empty update is refused", async () => {
  await refused("PATCH", `${POST}/s1`, { json: { data: {} } }, 400, "empty_update", "data");
  await refused("PATCH", `${POST}/s1`, { json: {} }, 400, "missing_field", "data");
});

test("[H1] the description of the interface has every route", async () => {
  const { body } = await call("GET", "/api/openapi.json", { token: null });
  expect(body.info).toMatchObject({ version: "0.16.1" });
  const described = Object.values(body.paths as Record<string, object>).flatMap((methods) => Object.keys(methods));
  expect(described).toHaveLength(Object.keys(endpoints).length);
});

test("[O6] only the operator makes organizations and keys", async () => {
  const routes = Object.entries(paths).filter(
    ([name]) => endpoints[name as keyof typeof endpoints].audience === "operator",
  );
  expect(routes).toHaveLength(5);
  for (const [, [method, path]] of routes) {
    const answer = await call(method, path.replace(":id", "key_1"), method === "POST" ? { json: {} } : {});
    expect([answer.status, answer.body.code]).toEqual([403, "admin_required"]);
  }
  const operator = (method: string, path: string, json?: unknown) =>
    call(method, path, { token: ADMIN, ...(json !== undefined && { json }) });
  expect((await operator("POST", "/v1/organizations", { name: "" })).body.code).toBe("invalid_value");
  expect((await operator("POST", "/v1/organizations", { name: "x".repeat(201) })).body.code).toBe("invalid_value");
  expect((await operator("POST", "/v1/secret_keys", { organization: "org_none", livemode: true })).body.code).toBe(
    "organization_not_found",
  );
  expect((await operator("DELETE", "/v1/secret_keys/key_none")).body.code).toBe("secret_key_not_found");
  expect((await operator("DELETE", "/v1/secret_keys/%00")).status).toBe(404);
  expect((await operator("GET", "/v1/secret_keys?organization=%00")).status).toBe(400);
  const { id, token } = await app.newKey();
  const listed = await operator("GET", `/v1/secret_keys?organization=${app.organization}`);
  expect(listed.text).not.toContain(token);
  expect(listed.body.data).toContainEqual(expect.objectContaining({ id, last4: token.slice(-4), revokedAt: null }));
  expect((await operator("DELETE", `/v1/secret_keys/${id}`, { graceSeconds: 3_600 })).status).toBe(200);
  expect((await call("GET", "/v1/log", { token })).status).toBe(200);
  expect((await operator("DELETE", `/v1/secret_keys/${id}`)).body).toMatchObject({ deleted: true });
  expect((await call("GET", "/v1/log", { token })).body.code).toBe("token_revoked");
});
