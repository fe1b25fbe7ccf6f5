import { type EndpointName, paths } from "@holdfast/sdk/protocol";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { Answer } from "../exchange/wire.ts";

type Plain = Readonly<Record<string, unknown>>;

interface Described {
  readonly types: ReadonlyMap<string, ValidateFunction>;
  /** The documented error codes of this status. */
  readonly codes: ReadonlySet<string>;
}

/** Checks responses against `/openapi.json`. Returns the violation, or undefined. */
export type ExpectResponse = (
  endpoint: EndpointName,
  answer: Answer,
  body: unknown,
  method: string,
) => string | undefined;

export function readDescription(document: Plain): ExpectResponse {
  const ajv = new Ajv2020({ strict: false, allErrors: false, ownProperties: true, validateFormats: false });
  ajv.addSchema(document as object, "doc");
  const known = new Map<string, Described | undefined>();

  function described(endpoint: EndpointName, status: number): Described | undefined {
    const [method, path] = paths[endpoint];
    const at = ["paths", path.replace(/:([A-Za-z]+)/g, "{$1}"), method.toLowerCase(), "responses", String(status)];
    const said = at.reduce<unknown>(inside, document) as { readonly $ref?: string } | undefined;
    if (!said) return undefined;
    const environment = said.$ref?.slice(2).split("/") ?? at;
    const { content, description } = environment.reduce<unknown>(inside, document) as {
      content: Plain;
      description: string;
    };
    const types = Object.keys(content).map((type): [string, ValidateFunction] => {
      const pointer = [...environment, "content", type, "schema"].map(escaped).join("/");
      return [type, ajv.compile({ $ref: `doc#/${encodeURI(pointer)}` })];
    });
    return {
      types: new Map(types),
      codes: new Set([...description.matchAll(/^- \[`([a-z_]+)`\]/gm)].map(([, code]) => code as string)),
    };
  }

  return (endpoint, { status, headers, text }, body, method) => {
    const name = `${endpoint} ${status}`;
    if (!known.has(name)) known.set(name, described(endpoint, status));
    const found = known.get(name);
    if (!found) return `${endpoint} is not said to answer ${status}`;
    if (method === "HEAD") return undefined;
    const type = String(headers["content-type"]).split(";")[0] as string;
    const check = found.types.get(type);
    if (!check) return `${endpoint} is not said to answer ${status} with ${type}`;
    if (!check(type === "application/json" ? body : text))
      return `the ${status} of ${endpoint} is not of the shape that is described: ${ajv.errorsText(check.errors)}`;
    const { code } = (body ?? {}) as { readonly code?: string };
    if (status >= 400 && !found.codes.has(String(code))) return `${endpoint} is not said to answer ${status} ${code}`;
    return undefined;
  };
}

const inside = (value: unknown, key: string): unknown => (value as Plain | undefined)?.[key];

const escaped = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");
