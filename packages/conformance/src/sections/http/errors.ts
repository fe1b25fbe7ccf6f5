import { someText } from "../../assertions/pattern.ts";
import { NOTE } from "../../environment/models.ts";
import type { Kit } from "../../kit/kit.ts";
import { check, type SuiteSection } from "../../kit/section.ts";
import type { Answer } from "../../protocol/answers.ts";

const notes = `/v1/models/${NOTE}`;

/** One answer of each of many kinds of error. */
async function errors(t: Kit): Promise<readonly Answer[]> {
  const { id, path, at } = await t.note();
  t.answered(await t.patch(path, { data: { title: "theirs" } }), 200);
  const key = t.id();
  t.answered(await t.post(notes, { id: t.id(), data: {} }, { key }), 200);
  return [
    await t.get("/v1/log", { token: null }),
    await t.get("/v1/log", { token: "sk_live_nothing" }),
    await t.get("/v1/nothing"),
    await t.ask("PUT", path),
    await t.get(`${notes}/${t.id()}`),
    await t.get("/v1/models/ConfNobody"),
    await t.get("/v1/models/%zz"),
    await t.get(`${notes}?limit=0`),
    await t.get(`${notes}?order_by=colour`),
    await t.get(`${notes}?starting_after=x`),
    await t.get(`/v1/log?x=${t.environment.key}`),
    await t.ask("POST", notes, { bytes: "{" }),
    await t.ask("POST", notes, { bytes: "{}", headers: { "content-type": "text/plain" } }),
    await t.ask("POST", notes, { bytes: "x".repeat(1_100_000) }),
    await t.get("/livez", { headers: { "x-long": "x".repeat(17_000) } }),
    await t.post(notes, { id, data: { title: "other" } }),
    await t.post(notes, { id: t.id() }),
    await t.post(notes, { id: t.id(), data: { order: "1" } }),
    await t.post(notes, { id: t.id(), data: { title: "\u0000" } }),
    await t.post(notes, { id: "a b", data: {} }),
    await t.patch(path, { data: {} }),
    await t.patch(path, { data: { title: "mine" }, readAt: at }),
    await t.patch(path, { data: { title: "mine" }, readAt: 2 ** 52 }),
    await t.patch(path, { data: { title: "mine" }, claim: "clm_nobody" }),
    await t.post(notes, { id: t.id(), data: {} }, { key }),
    await t.commit([]),
  ];
}

export const section: SuiteSection = {
  title: "Errors",
  cases: [
    check("[H1] Every error is JSON in one envelope with type, message, code and request_id.", async (t) => {
      for (const answer of await errors(t)) {
        t.that(
          answer.status >= 400 && answer.status < 500,
          `a 4xx to ${answer.request.method} ${answer.request.path.slice(0, 60)}`,
          answer.status,
        );
        t.fits(answer.headers["content-type"], /^application\/json\b/, "the content type");
        t.fits(
          answer.body,
          { type: /^[a-z_]+_error$/, message: someText, code: /^[a-z_]+$/, request_id: /^req_/ },
          "the envelope",
        );
      }
    }),
    check("[E1] doc_url links to the error page, at an anchor named after the code.", async (t) => {
      const page = t.answered(await t.get("/docs/errors", { token: null }), 200);
      t.fits(page.headers["content-type"], /^text\/html\b/, "the content type of the page");
      const anchors = new Set([...page.text.matchAll(/\s(?:id|name)=["']?([^"'\s>]+)/g)].map(([, id]) => id));
      const pages = new Set<string>();
      for (const answer of await errors(t)) {
        const { code, doc_url: url } = answer.body;
        t.fits(url, /^https?:\/\/[^\s#]+\/docs\/errors#[a-z_]+$/, `doc_url of ${code}`);
        const { hash } = new URL(String(url));
        pages.add(String(url).slice(0, -hash.length));
        t.is(hash, `#${code}`, "the place that it names");
        t.that(anchors.has(hash.slice(1)), `the page to have a place named ${hash}`, [...anchors].length);
      }
      t.is(pages.size, 1, "the number of pages that they name");
    }),
    check("[E1] doc_url never comes from the Host header.", async (t) => {
      const answer = await t.get("/v1/nothing", { headers: { host: "evil.invalid" } });
      t.refused(answer, "route_not_found");
      t.fits(answer.body.doc_url, /^https?:\/\/(?!evil)/, "doc_url");
    }),
    check("[E2] The error page explains each code.", async (t) => {
      const page = t.answered(await t.get("/docs/errors", { token: null }), 200);
      for (const code of [
        ...["stale_context", "idempotency_conflict", "capability_scope_denied", "rate_limited", "already_exists"],
        ...["claim_lost", "invalid_cursor", "resync_required", "storage_full"],
      ])
        t.that(page.text.includes(code), `the page to speak of ${code}`);
    }),
    check("[H7] Strange text as an id, model, cursor, field, key or parameter never produces a 500.", async (t) => {
      const strange = [
        ...["undefined", "null", "NaN", "true", "-1", "0", "1e1000", "'", '"', "`", "\\", "%", "%00", "%ff"],
        ...["<script>", "$(1)", "{{7*7}}", "() { :; }", "../../etc/passwd", "\u202e", "\ufeff", "𝔘", "Ω≈ç√", "ﷺ"],
        "a".repeat(300),
        ...["\r\nx: y", " ", "[]", "{}", "__proto__", "constructor", "toString", "; drop table x"],
        ...[
          "1;select pg_sleep(5)",
          "",
          "\u0000",
          "a\u0001b",
          "a\u001fb",
          "\u0085",
          "\u2028",
          "\u00a0",
          "\u200b",
          "e\u0301",
        ],
        ...[
          "\ufffe",
          "\uffff",
          "\ud800",
          "a\ud83d",
          "\u{10ffff}",
          "👩‍👩‍👧‍👦",
          "١٢٣",
          "İ",
          "אa1ב",
          "{NULL}",
          '{"a"',
          "$.a",
        ],
      ];
      const { path } = await t.note();
      for (const text of strange) {
        // Half of a surrogate pair is no text that an address can have.
        const escaped = encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\ufffd"));
        const operations = [{ action: "delete", model: NOTE, id: t.id() }];
        // `ask` checks every answer itself: a 500, or an error without the envelope, fails the case.
        const answers = await Promise.all([
          t.get(`${notes}/${escaped}`),
          t.get(`/v1/models/${escaped}`),
          t.get(`/v1/models/${escaped}/a`),
          t.get(`${notes}?ids=${escaped}`),
          t.get(`/v1/snapshot?group=confdeck:${escaped}`),
          t.commit(operations, { reads: [text, `confdeck:${text}`].map((group) => ({ group, readAt: 0 })) }),
          t.commit(operations, { reads: [{ model: NOTE, id: text, fields: [text], readAt: 0 }] }),
          t.patch(path, { data: { deckId: text } }),
          t.patch(path, { data: { [text]: 1 } }),
          t.patch(path, { data: { title: "x" }, idempotencyKey: text }),
          t.get(`${notes}?starting_after=${escaped}`),
          t.get(`${notes}?order_by=${escaped}`),
          t.get(`${notes}?filter[title]=${escaped}&limit=1`),
          t.get(`${notes}?${escaped}=${escaped}`),
          t.get(`/v1/log?group=${escaped}`),
          t.get(`/v1/log?model=${escaped}&limit=1`),
          t.get(`/v1/snapshot?model=${escaped}&starting_after=${escaped}`),
          t.get(`/v1/commits/${escaped}`),
          t.ask("DELETE", `/${escaped}`),
          t.post(notes, { id: text, data: {} }),
          t.commit([{ action: text, model: text, id: text, data: { [text]: text } }], { clientTxId: text }),
          t.patch(path, { data: { title: text, extra: { [text]: [text] } } }),
        ]);
        const wrong = answers.filter(({ status }) => status >= 500).map(({ request }) => request.path);
        t.is(wrong, [], `requests that were answered with 5xx for ${JSON.stringify(text)}`);
      }
      t.answered(await t.get("/livez"), 200);
    }),
  ],
};
