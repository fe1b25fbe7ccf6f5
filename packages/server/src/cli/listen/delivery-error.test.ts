import { expect, test } from "vitest";
import { faultOf } from "./delivery-error.ts";

test.each([
  ["ECONNREFUSED", "connection_refused"],
  ["ENOTFOUND", "dns_failed"],
  ["EAI_AGAIN", "dns_failed"],
  ["ECONNRESET", "connection_lost"],
  ["UND_ERR_SOCKET", "connection_lost"],
  ["UND_ERR_CONNECT_TIMEOUT", "connect_timeout"],
  ["HPE_INVALID_CONSTANT", "invalid_response"],
  ["CERT_HAS_EXPIRED", "tls_failed"],
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "tls_failed"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "tls_failed"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "tls_failed"],
])("[W61] %s is told as %s", (code, told) => {
  expect(faultOf(new TypeError("fetch failed", { cause: Object.assign(new Error("why"), { code }) })).code).toBe(told);
});

test("[W61] what nobody foresaw is told in its own words", () => {
  const cause = Object.assign(new Error("no route"), { code: "EHOSTUNREACH" });
  expect(faultOf(new TypeError("fetch failed", { cause })).message).toBe("the connection broke: no route");
  expect(faultOf(new TypeError("fetch failed")).message).toBe("the connection broke: fetch failed");
  expect(faultOf(new DOMException("over", "TimeoutError"))).toEqual({ code: "timeout", message: "no answer in time" });
});
