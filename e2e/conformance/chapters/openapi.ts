import { type Chapter, check } from "../chapter.ts";
import { NOTE } from "../models.ts";
import { anObject, someText } from "../pattern.ts";

type Described = Readonly<Record<string, Readonly<Record<string, unknown>>>>;
const path = "/openapi.json";
/** `{model}`, `:model` and the like are all one. */
const shape = (route: string) => route.replace(/^\/api/, "").replace(/\{[^}]+\}|:[^/]+/g, "{}");

const ROUTES: readonly (readonly [method: string, route: string])[] = [
  ["post", "/v1/models/{model}"],
  ["get", "/v1/models/{model}"],
  ["get", "/v1/models/{model}/{id}"],
  ["patch", "/v1/models/{model}/{id}"],
  ["delete", "/v1/models/{model}/{id}"],
  ["post", "/v1/models/{model}/{id}/archive"],
  ["post", "/v1/models/{model}/{id}/unarchive"],
  ["get", "/v1/models/{model}/{id}/history"],
  ["post", "/v1/commits"],
  ["post", "/v1/commits/bulk"],
  ["get", "/v1/commits/{clientTxId}"],
  ["get", "/v1/log"],
  ["get", "/v1/snapshot"],
  ["get", "/v1/schema"],
  ["post", "/v1/schema"],
  ["get", "/v1/identity"],
  ["get", "/v1/usage"],
  ["get", "/v1/datasources"],
  ["post", "/v1/capabilities"],
  ["post", "/v1/ephemeral_keys"],
];

export const chapter: Chapter = {
  title: "The published description",
  cases: [
    check("/openapi.json is OpenAPI 3.1 and carries the version 0.16.1.", async (t) => {
      const answer = t.answered(await t.get(path, { token: null }), 200, {
        openapi: /^3\.1\.\d+$/,
        info: { title: someText, version: "0.16.1" },
        paths: anObject,
      });
      t.fits(answer.headers["content-type"], /^application\/(json|openapi\+json)\b/, "the content type");
    }),
    check("It describes the routes: each operation has responses, and its path parameters are declared.", async (t) => {
      const { body } = t.answered(await t.get(path, { token: null }), 200, { paths: anObject });
      const described = Object.entries(body.paths as Record<string, Described>);
      for (const [method, route] of ROUTES) {
        const found = described.find(([name]) => shape(name) === shape(route));
        t.fits(found?.[1]?.[method], { responses: anObject }, `${method} ${route}`);
      }
      for (const [route, item] of described) {
        const named = [...route.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name);
        for (const [method, operation] of Object.entries(item)) {
          if (!["get", "post", "patch", "delete", "put", "head"].includes(method)) continue;
          const parameters = [
            ...((item.parameters as unknown as object[]) ?? []),
            ...((operation.parameters as object[]) ?? []),
          ] as { name?: string; in?: string }[];
          const missing = named.filter((name) => !parameters.some((one) => one.name === name && one.in === "path"));
          t.is(missing, [], `path parameters that ${method} ${route} does not declare`);
        }
      }
    }),
    check("References within it lead somewhere.", async (t) => {
      const { body, text } = t.answered(await t.get(path, { token: null }), 200);
      const references = [...new Set([...text.matchAll(/"\$ref":"(#\/[^"]+)"/g)].map(([, ref]) => String(ref)))];
      for (const reference of references) {
        const parts = reference
          .slice(2)
          .split("/")
          .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
        const target = parts.reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], body);
        t.that(target !== undefined, `${reference} to lead somewhere`);
      }
      t.that(text.includes("0.16.1"), "the version to be in the text");
    }),
    check("Without a token it is generic over the model; with one it has that world's models.", async (t) => {
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
    }),
  ],
};
