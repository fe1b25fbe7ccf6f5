import { NOTE } from "../../environment/models.ts";
import type { Kit } from "../../kit/kit.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import { ROUTES } from "../../protocol/routes.ts";
import { checksum, inventedToken } from "../../protocol/token.ts";
import { sendRaw } from "../../transport/raw.ts";

const notes = `/v1/models/${NOTE}`;
const damaged = (token: string) => token.slice(0, -1) + (token.endsWith("0") ? "1" : "0");

const NONE: readonly (readonly [what: string, header: (t: Kit) => string])[] = [
  ["Basic", () => "Basic dXNlcjpwYXNz"],
  ["nothing after Bearer", () => "Bearer "],
  ["two spaces before the token", ({ environment }) => `Bearer  ${environment.key}`],
  ["two words after Bearer", ({ environment }) => `Bearer ${environment.key} x`],
  ["a token without Bearer", ({ environment }) => environment.key],
  ["10 kB", () => `Bearer ${"x".repeat(10_000)}`],
  ["letters beyond ASCII", () => "Bearer sk_live_\u00e9"],
  ["a key with one wrong character", ({ environment }) => `Bearer ${damaged(environment.key)}`],
  ["a key under another prefix", ({ environment }) => `Bearer ${environment.key.replace(/^sk_(live|test)_/, "rk_")}`],
  ["a key with a character too many", ({ environment }) => `Bearer ${environment.key}0`],
  ["the beginning of a key", () => "Bearer sk_live_"],
  ["a well-formed secret key that does not exist", () => `Bearer ${inventedToken("sk_live_")}`],
  ["a well-formed capability that does not exist", () => `Bearer ${inventedToken("rk_")}`],
  ["a well-formed ephemeral key that does not exist", () => `Bearer ${inventedToken("ek_")}`],
];

/** A path of the route. Whether its records exist does not matter: the token is checked first. */
const pathOf = (route: string): string => route.replace("{model}", NOTE).replace(/\{\w+\}/g, "x");

export const section: SuiteSection = {
  title: "Authentication",
  cases: [
    ...checkEach(
      ROUTES,
      ([method, route]) =>
        `[H3] ${method} ${route} without a token is 401 auth_no_credentials, with WWW-Authenticate: Bearer.`,
      async (t, [method, route]) => {
        for (const prefix of ["", "/api"]) {
          const answer = t.refused(await t.ask(method, prefix + pathOf(route), { token: null }), "auth_no_credentials");
          t.fits(answer.headers["www-authenticate"], /^Bearer\b/, "www-authenticate");
        }
      },
    ),
    check("[B10] Five answers of 401 in a row end a connection.", async (t) => {
      const text = await sendRaw(t.environment.url, "GET /v1/log HTTP/1.1\r\nhost: x\r\n\r\n".repeat(9));
      t.is(text.match(/HTTP\/1\.1 401/g)?.length, 5, "answers of 401");
      t.is(text.match(/connection: close/gi)?.length, 1, "answers that close the connection");
    }),
    ...checkEach(
      NONE,
      ([what]) =>
        `[H3] ${what[0]?.toUpperCase()}${what.slice(1)} in Authorization is 401 with WWW-Authenticate: Bearer.`,
      async (t, [, header]) => {
        const answer = await t.get("/v1/log", { token: null, headers: { authorization: header(t) } });
        t.answered(answer, 401, { type: "authentication_error", code: /^(apikey_invalid|auth_no_credentials)$/ });
        t.fits(answer.headers["www-authenticate"], /^Bearer\b/, "www-authenticate");
      },
    ),
    check("[H3] The word Bearer is matched in any case.", async (t) => {
      const headers = { authorization: `bearer ${t.environment.key}` };
      t.answered(await t.get("/v1/log?limit=1", { token: null, headers }), 200);
    }),
    check(
      "[H3] [K8] The last six characters of a key are the CRC-32 of the characters before them, in base62.",
      async (t) => {
        const zeros = `sk_live_${"0".repeat(30)}`;
        t.is(checksum(zeros), "1yMVfD", "the checksum of thirty zeros, to check the check");
        t.is(t.environment.key.slice(-6), checksum(t.environment.key.slice(0, -6)), "the end of the key");
        t.fits(t.environment.key, /^sk_(live|test)_[0-9A-Za-z]{36}$/, "the key");
        t.answered(await t.get("/v1/log?limit=1"), 200);
      },
    ),
    check(
      "[H3] A value in the address that looks like a token is 400 token_in_query, whatever its name, on every route.",
      async (t) => {
        const secret = inventedToken("sk_live_");
        for (const path of [
          `/v1/log?token=${secret}`,
          `/v1/log?x=${secret}`,
          `/livez?a=1&key=${inventedToken("rk_")}`,
          `${notes}?title=${inventedToken("ek_")}`,
          `/v1/log?x=${secret.replace("s", "%73")}`,
          `/v1/log?${secret}=1`,
          `/nowhere?a=1&b=${secret}&c=2`,
        ]) {
          const answer = t.refused(await t.get(path), "token_in_query");
          t.that(!answer.text.includes(secret.slice(8)), "an answer without the token");
        }
      },
    ),
    check("The server shows a token only once: neither a list of tokens nor the identity has one.", async (t) => {
      const lists = await Promise.all(
        ["/v1/capabilities", "/v1/ephemeral_keys", "/v1/identity"].map((path) => t.get(path)),
      );
      for (const list of lists) {
        t.answered(list, 200);
        t.that(!/(sk_live|sk_test|rk|ek)_[0-9A-Za-z]{36}/.test(list.text), "no token in the answer", list.text);
      }
    }),
  ],
};
