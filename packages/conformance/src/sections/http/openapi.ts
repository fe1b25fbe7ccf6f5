import { anObject, someText } from "../../assertions/pattern.ts";
import { NOTE } from "../../environment/models.ts";
import { schemaTenant } from "../../kit/schema-tenant.ts";
import { check, checkEach, type SuiteSection } from "../../kit/section.ts";
import { ROUTES } from "../../protocol/routes.ts";

type Described = Readonly<Record<string, Readonly<Record<string, unknown>>>>;
interface Parameter {
  readonly $ref?: string;
  readonly name?: string;
  readonly in?: string;
}
const METHODS = new Set(["get", "post", "patch", "delete"]);
const path = "/openapi.json";
/** `{model}` and `:model` are the same parameter. */
const shape = (route: string) => route.replace(/^\/api/, "").replace(/\{[^}]+\}|:[^/]+/g, "{}");

export const section: SuiteSection = {
  title: "The OpenAPI description",
  cases: [
    check("/openapi.json is OpenAPI 3.1 and carries the version 0.16.1.", async (t) => {
      const answer = t.answered(await t.get(path, { token: null }), 200, {
        openapi: /^3\.1\.\d+$/,
        info: { title: someText, version: "0.16.1" },
        paths: anObject,
      });
      t.fits(answer.headers["content-type"], /^application\/(json|openapi\+json)\b/, "the content type");
    }),
    ...checkEach(
      ROUTES,
      ([method, route]) => `/openapi.json describes ${method} ${route}.`,
      async (t, [method, route]) => {
        const { body } = t.answered(await t.get(path, { token: null }), 200, { paths: anObject });
        const found = Object.entries(body.paths as Record<string, Described>).find(
          ([name]) => shape(name) === shape(route),
        );
        t.fits(found?.[1]?.[method.toLowerCase()], { responses: anObject }, `${method} ${route}`);
      },
    ),
    check("/openapi.json declares every path parameter of its routes.", async (t) => {
      const { body } = t.answered(await t.get(path, { token: null }), 200, { paths: anObject });
      const described = Object.entries(body.paths as Record<string, Described>);
      t.that(described.length > 0, "some paths");
      for (const [route, item] of described) {
        const named = [...route.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name);
        for (const [method, operation] of Object.entries(item)) {
          if (!METHODS.has(method)) continue;
          const declared = [item, operation]
            .flatMap(({ parameters }) => (parameters ?? []) as readonly Parameter[])
            .map((one) => (one.$ref === undefined ? one : (targetOf(body, one.$ref) as Parameter)));
          const missing = named.filter((name) => !declared.some((one) => one?.name === name && one.in === "path"));
          t.is(missing, [], `path parameters that ${method} ${route} does not declare`);
        }
      }
    }),
    check("Every reference within /openapi.json resolves.", async (t) => {
      const { body, text } = t.answered(await t.get(path, { token: null }), 200);
      const references = [...new Set([...text.matchAll(/"\$ref":"(#\/[^"]+)"/g)].map(([, ref]) => String(ref)))];
      for (const reference of references) {
        const target = targetOf(body, reference);
        t.that(target !== undefined, `${reference} to lead somewhere`);
      }
      t.that(text.includes("0.16.1"), "the version to be in the text");
    }),
    check(
      "/openapi.json is generic over the model without a token, and has the tenant's models with one.",
      async (t) => {
        const generic = t.answered(await t.get(path, { token: null }), 200);
        t.that(!generic.text.toLowerCase().includes(NOTE.toLowerCase()), `no ${NOTE} without a token`);
        const own = t.answered(await t.get(path), 200);
        const routes = Object.keys(own.body.paths as object).map((route) => route.toLowerCase());
        t.that(
          routes.some((route) => route.includes(`/v1/models/${NOTE.toLowerCase()}`)),
          `a path of ${NOTE}`,
          routes.length,
        );
        for (const field of ["deckId", "title", "order"])
          t.that(own.text.includes(`"${field}"`), `the field ${field} to be described`);
      },
    ),
    check(
      "[E5] /openapi.json follows the tenant's schema, shows it to no other, and takes no invalid token.",
      async (t) => {
        const { name, token, push } = await schemaTenant(t);
        const before = await t.get(path, { token });
        t.answered(await push({ fields: { text: { type: "string" } } }), 201);
        const after = t.answered(await t.get(path, { token }), 200);
        t.that(after.headers.etag !== before.headers.etag, "another etag");
        t.that(after.text.includes(`/v1/models/${name.toLowerCase()}/{id}`), "the model's path");
        const { text } = t.answered(await t.get(path, { token: t.otherKey() }), 200);
        t.that(!text.toLowerCase().includes(name.toLowerCase()), "nothing of it for another tenant");
        t.refused(await t.get(path, { token: `${token}x` }), "apikey_invalid");
      },
    ),
  ],
};

/** The value that a reference within the document points to. */
const targetOf = (document: unknown, reference: string): unknown =>
  reference
    .slice(2)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>((at, part) => (at as Readonly<Record<string, unknown>> | undefined)?.[part], document);
