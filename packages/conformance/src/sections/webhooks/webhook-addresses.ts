import type { Pattern } from "../../assertions/pattern.ts";
import { NotApplicable } from "../../assertions/unmet.ts";
import { QUIET } from "../../environment/models.ts";
import type { Kit } from "../../kit/kit.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import { allowsPrivate, ENDPOINTS, quiet, register } from "../../kit/webhook-kit.ts";

/** Addresses that no server accepts for an endpoint. */
const NO_ADDRESSES = [
  ...["ftp://conformance.invalid/", "file:///etc/passwd", "javascript:alert(1)", "ws://conformance.invalid/", "//x"],
  ...["conformance.invalid/hooks", "", "https://", "https:///x", "https://user@conformance.invalid/"],
  ...["https://user:password@conformance.invalid/", "https://conformance.invalid:22/"],
  ...["https://conformance.invalid:80/", "https://conformance.invalid:1023/"],
  ...[1433, 3306, 5432, 6379, 9200, 11211, 27017].map((port) => `https://conformance.invalid:${port}/`),
  `https://conformance.invalid/${"x".repeat(10_000)}`,
];

/** Addresses that are not public, in every spelling. */
const PRIVATE_ADDRESSES = [
  ...["https://127.0.0.1/", "https://0x7f.1/", "https://2130706433/", "https://017700000001/", "https://127。0。0。1/"],
  ...["https://localhost/", "https://localhost./", "https://0.0.0.0/", "https://10.0.0.1/", "https://172.16.0.1/"],
  ...["https://192.168.1.1/", "https://169.254.169.254/", "https://100.64.0.1/", "https://224.0.0.1/"],
  ...["https://255.255.255.255/", "https://[::1]/", "https://[::]/", "https://[::ffff:127.0.0.1]/"],
  ...["https://[64:ff9b::7f00:1]/", "https://[2002:7f00:1::]/", "https://[2001:db8::1]/", "https://[fc00::1]/"],
  ...["https://[fe80::1]/"],
];

const show = (url: string): string => (url.length > 60 ? `an https address of ${url.length} characters` : url || '""');

async function refusedAddress(t: Kit, url: string, code: Pattern): Promise<void> {
  const refused = { type: "validation_error", code, param: "url" };
  const answer = await t.post(ENDPOINTS, { url, enabledEvents: [QUIET] });
  if (answer.status === 201) t.after(() => t.environment.ask("DELETE", `${ENDPOINTS}/${answer.body.id}`));
  t.answered(answer, 400, refused);
}

export const section: SuiteSection = {
  title: "Webhook addresses",
  cases: [
    ...checkEach(
      NO_ADDRESSES,
      (url) => `[W2] ${show(url)} is 400 invalid_url.`,
      (t, url) => refusedAddress(t, url, "invalid_url"),
    ),
    check("[W2] An http address is 400 invalid_url.", async (t) => {
      if (await allowsPrivate(t.environment)) throw new NotApplicable("the server allows http and private addresses");
      await refusedAddress(t, "http://conformance.invalid/", "invalid_url");
    }),
    ...checkEach(
      PRIVATE_ADDRESSES,
      (url) => `[W2] ${url} is not public: 400 blocked_address.`,
      async (t, url) => {
        if (await allowsPrivate(t.environment)) throw new NotApplicable("the server allows http and private addresses");
        await refusedAddress(t, url, "blocked_address");
      },
    ),
    check("[W2] A PATCH of the url follows the same rules.", async (t) => {
      const { path, body } = await register(t, quiet());
      for (const url of ["ftp://conformance.invalid/", "https://conformance.invalid:5432/", "https://a:b@x.invalid/"])
        t.refused(await t.patch(path, { url }), "invalid_url", { param: "url" });
      if (!(await allowsPrivate(t.environment)))
        t.refused(await t.patch(path, { url: "https://127.0.0.1/" }), "blocked_address", { param: "url" });
      t.answered(await t.get(path), 200, { url: String(body.url) });
    }),
    check("[W2] A host name with letters beyond ASCII is stored as punycode.", async (t) => {
      const { path } = await register(t, quiet({ url: "https://bücher.invalid/hooks" }));
      t.answered(await t.get(path), 200, { url: "https://xn--bcher-kva.invalid/hooks" });
    }),
    ...checkEach(
      [
        "https://conformance.invalid:443/a",
        "https://conformance.invalid:1024/a?b=c",
        "https://conformance.invalid:65535/",
      ],
      (url) => `${url} is accepted.`,
      async (t, url) => t.fits((await register(t, quiet({ url }))).body, { status: "enabled" }, "the endpoint"),
    ),
  ],
};
