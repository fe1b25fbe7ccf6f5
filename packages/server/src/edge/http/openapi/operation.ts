import {
  CommitReceipt,
  type EndpointName,
  type EndpointSchema,
  type ErrorCode,
  ErrorEnvelope,
  errorCodes,
  errorSentences,
  headers,
  limits,
  paths,
  type QueryParameter,
} from "@holdfast/sdk/protocol";
import type { DocUrl } from "../../envelope/envelope.ts";
import { isSpoken } from "../answer-names.ts";
import { errorsOf, isWrite } from "./errors-of.ts";
import { bodyExamples } from "./examples.ts";
import type { Plain, Schemas } from "./json-schema.ts";
import type { Shared } from "./shared.ts";

export interface Describing {
  readonly schemas: Schemas;
  readonly responses: Shared;
  readonly docUrl: DocUrl;
}

/** The parts of an operation that a model replaces. */
export interface ModelParts {
  readonly name: string;
  readonly body?: Plain;
  readonly reply?: Plain;
  readonly example?: Plain;
  readonly sortable: readonly string[];
}

/** The description of one endpoint, generic or for one model. */
export function operation(
  endpointName: EndpointName,
  endpoint: EndpointSchema,
  describing: Describing,
  model?: ModelParts,
): Plain {
  const [, path] = paths[endpointName];
  return {
    operationId: model ? `${model.name}_${endpointName}` : endpointName,
    summary: model ? `${endpoint.summary}: ${model.name}` : endpoint.summary,
    tags: [model ? modelTag(model.name) : tagOf(path)],
    ...(endpoint.audience !== "token" && { security: [{ [securityOf(endpoint)]: [] }] }),
    parameters: parametersOf(endpointName, endpoint, describing.schemas, model),
    ...requestBody(endpointName, endpoint, describing.schemas, model),
    responses: { ...successes(endpoint, describing, model), ...errors(endpointName, endpoint, describing) },
  };
}

/** Operations are grouped by the path segment after the version. */
export const tagOf = (path: string): string => path.split("/")[2] ?? "";

export const modelTag = (name: string): string => `model ${name}`;

const securityOf = ({ audience }: EndpointSchema): string => (audience === "operator" ? "operator" : "secretKey");

function parametersOf(
  endpointName: EndpointName,
  endpoint: EndpointSchema,
  schemas: Schemas,
  model?: ModelParts,
): Plain[] {
  const [, path] = paths[endpointName];
  const inPath = [...path.matchAll(/:([A-Za-z]+)/g)].flatMap(([, name = ""]) =>
    name === "model" && model ? [] : [pathParameter(name, path)],
  );
  const inQuery = Object.entries(endpoint.query ?? {}).map(([name, parameter]) =>
    queryParameter(name, parameter, schemas, model),
  );
  if (endpoint.filters) inQuery.push({ $ref: "#/components/parameters/Filter" });
  const inHeader = [...(isWrite(endpoint) ? ["IdempotencyKey"] : []), ...(isSpoken(endpointName) ? ["Schema"] : [])];
  return [...inPath, ...inQuery, ...inHeader.map((name) => ({ $ref: `#/components/parameters/${name}` }))];
}

function pathParameter(name: string, path: string): Plain {
  if (name === "model") return { $ref: "#/components/parameters/Model" };
  if (path.includes(":model") && name === "id") return { $ref: "#/components/parameters/RecordId" };
  return {
    name,
    in: "path",
    required: true,
    description: `The \`${name}\` that the server returned.`,
    schema: { type: "string" },
  };
}

function queryParameter(
  name: string,
  { description, repeatable, schema }: QueryParameter,
  schemas: Schemas,
  model?: ModelParts,
): Plain {
  const known: Plain = schema ? schemas.of(schema) : { type: "string" };
  if (name === "order_by" && model) return { name, in: "query", description, ...sortedBy(model, known) };
  return { name, in: "query", description, schema: repeatable ? { type: "array", items: known } : known };
}

/** One key as a text, or several with commas. */
function sortedBy({ sortable }: ModelParts, known: Plain): Plain {
  const pattern = `^(?:${sortable.join("|")})(?::(?:asc|desc))?$`;
  const several = { type: "array", items: { type: "string", pattern }, minItems: 1, maxItems: limits.sortKeys };
  return { style: "form", explode: false, schema: { anyOf: [{ ...known, enum: sortable }, several] } };
}

function requestBody(name: EndpointName, endpoint: EndpointSchema, schemas: Schemas, model?: ModelParts): Plain {
  if (!endpoint.body) return {};
  const examples = bodyExamples(name, model?.example);
  return {
    requestBody: {
      required: !endpoint.bodyOptional,
      description: `Up to ${(endpoint.batchBody ? limits.batchBodyBytes : limits.bodyBytes) / 1024 / 1024} MiB.`,
      content: {
        "application/json": { schema: model?.body ?? schemas.of(endpoint.body), ...(examples && { examples }) },
      },
    },
  };
}

const RATE_LIMITS = ["RateLimitLimit", "RateLimitRemaining", "RateLimitReset"];

const headersNamed = (names: readonly string[]): Plain =>
  Object.fromEntries(names.map((name) => [HEADERS[name]?.[0] ?? "", { $ref: `#/components/headers/${name}` }]));

function successes(endpoint: EndpointSchema, { schemas, responses }: Describing, model?: ModelParts): Plain {
  return Object.fromEntries(
    Object.entries(endpoint.reply).map(([status, reply]) => {
      const receipt = reply === CommitReceipt;
      const schema = model?.reply ?? schemas.of(reply);
      const response = {
        description: receipt
          ? "The receipt: written, or held by `onStale: notify`."
          : endpoint.produces
            ? "Lines of JSON: a first line, one line per record, a last line. A page without its last line is incomplete."
            : (STATUS[status] ?? "Done."),
        headers: headersNamed(["RequestId", ...RATE_LIMITS, ...(receipt ? ["Replayed", "Held"] : [])]),
        content: { [endpoint.produces ?? "application/json"]: { schema } },
      };
      return [status, receipt ? responses.put(response, "CommitReceipt", `CommitReceipt${status}`) : response];
    }),
  );
}

const STATUS: Readonly<Record<string, string>> = { 200: "Done.", 201: "Created.", 202: "It waits." };

/** Of the header that names the client's schema. */
const SCHEMA_ERRORS = ["invalid_value", "schema_too_old"] as const;

function errors(name: EndpointName, endpoint: EndpointSchema, { schemas, responses, docUrl }: Describing): Plain {
  return Object.fromEntries(
    [...errorsOf(paths[name], endpoint, isSpoken(name) ? SCHEMA_ERRORS : [])].map(([status, codes]) => {
      const response = {
        description: codes
          .map((code) => `- [\`${code}\`](${docUrl(code)}): ${inMarkdown(errorSentences[code])}`)
          .join("\n"),
        headers: headersNamed([
          "RequestId",
          ...(status === 429 ? RATE_LIMITS : []),
          ...(status === 429 || status === 503 ? ["RetryAfter"] : []),
          ...(status === 401 ? ["Authenticate"] : []),
        ]),
        content: {
          "application/json": {
            schema: schemas.of(ErrorEnvelope),
            example: exampleError(codes[0] as ErrorCode, docUrl),
          },
        },
      };
      return [status, responses.put(response, `Error${status}`, `Error${status}_${name}`)];
    }),
  );
}

/** Escapes text for Markdown. */
const inMarkdown = (text: string): string => text.replace(/[<>*_~`]/g, "\\$&");

const exampleError = (code: ErrorCode, docUrl: DocUrl): Plain => ({
  type: errorCodes[code].type,
  message: errorSentences[code],
  code,
  doc_url: docUrl(code),
  request_id: "req_3vXk9TzQ1mBq7LdYw2NcR8sA",
});

/** Component name → header name, description and schema. */
const HEADERS: Readonly<Record<string, readonly [name: string, description: string, schema: Plain]>> = {
  RequestId: [
    headers.requestId,
    "The id of this request; `request_id` in an error body.",
    { type: "string", pattern: "^req_[0-9A-Za-z]{24}$" },
  ],
  RateLimitLimit: [
    "ratelimit-limit",
    "The size of a burst. Only for tokens with a rate limit, like the next two headers.",
    { type: "integer" },
  ],
  RateLimitRemaining: ["ratelimit-remaining", "Requests left in the current burst.", { type: "integer" }],
  RateLimitReset: ["ratelimit-reset", "Seconds until the full burst is available again.", { type: "integer" }],
  RetryAfter: [headers.retryAfter, "Seconds to wait before the next attempt.", { type: "integer" }],
  Authenticate: ["www-authenticate", "`Bearer`.", { type: "string" }],
  Replayed: [
    headers.replayed,
    "`true` if this is the receipt of an earlier request with the same key.",
    { type: "string", enum: ["true"] },
  ],
  Held: [
    headers.held,
    "`true` if the write was stale and held: nothing was written.",
    { type: "string", enum: ["true"] },
  ],
};

export const headerComponents = (): Plain =>
  Object.fromEntries(Object.entries(HEADERS).map(([name, [, description, schema]]) => [name, { description, schema }]));

export const parameterComponents = (): Plain => ({
  Model: {
    name: "model",
    in: "path",
    required: true,
    description: "A model of the pushed schema, in any case.",
    schema: { type: "string", pattern: "^[A-Za-z][A-Za-z0-9_]{0,62}$" },
    example: "slide",
  },
  RecordId: {
    name: "id",
    in: "path",
    required: true,
    description: "The record's id, chosen by the client that created it.",
    schema: { type: "string", pattern: `^[A-Za-z0-9_.:~-]{1,${limits.idLength}}$` },
    example: "slide_1",
  },
  Filter: {
    name: "filter",
    in: "query",
    description:
      "`filter[<field>]=v` (or `<field>=v`), `filter[<field>][gt|gte|lt|lte]=v`, `filter[<field>][null]=true|false`, `filter[<field>][not]=v`, `filter[<field>][in|notIn]=[v,w]`, `filter[<field>][contains|startsWith|search]=v`: all must match. Values other than text are written as in JSON.",
    style: "deepObject",
    explode: true,
    schema: { type: "object", additionalProperties: true },
    // The example has no filter: a made-up one would name no existing field.
    example: {},
  },
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description: "1 to 255 visible ASCII characters. The same key and body return the same receipt for 30 days.",
    schema: { type: "string", minLength: 1, maxLength: limits.keyLength },
  },
  Schema: {
    name: "Holdfast-Schema",
    in: "header",
    description:
      "The schema that the client was built with: a version, or a fingerprint of each model, separated by commas. If fields have been renamed since, the request and the answer have the names of that schema, for 30 days after the push.",
    schema: { type: "string", maxLength: limits.schemaSaidLength },
  },
});
