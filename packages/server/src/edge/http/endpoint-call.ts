import { type EndpointName, type EndpointSchema, endpoints } from "@holdfast/sdk/protocol";
import type { Answer } from "../../kernel/limits/answer-bytes.ts";
import { isRefusal, type Refusal, refuse } from "../../kernel/refusal.ts";
import type { ClientSchemas } from "../../kernel/schema/flows/client-schemas.ts";
import type { Principal } from "../../kernel/tokens/rules/participant.ts";
import { shapeCheck } from "../payload/shape-check.ts";
import type { ApiRequest, ApiResponse, Handler, Handlers, QueryTable } from "./answer.ts";
import { answerInNames, isSpoken, readSaidHeader } from "./answer-names.ts";
import type { AttributionHeaders } from "./attribution.ts";
import { translateCommit, translateWrite, withoutNulls } from "./dialect.ts";
import { readQuery } from "./query.ts";

/** A request that may be made, over HTTP or on a stream. */
export interface EndpointRequest extends Pick<ApiRequest<never>, "params" | "bodyBytes" | "signal" | "recheck"> {
  /** Undefined for the operator. */
  readonly principal: Principal | undefined;
  /** What follows the question mark. */
  readonly search: string;
  /** As parsed. Undefined: there is none. */
  readonly body: unknown;
  readonly answer: Answer | undefined;
  readonly keyHeader: string | undefined;
  readonly attribution?: AttributionHeaders | undefined;
  readonly schemaHeader: string | readonly string[] | undefined;
}

/** Checks the query and the body, and runs the endpoint's handler. */
export type EndpointCall = (request: EndpointRequest) => Promise<ApiResponse<EndpointName>>;

export type SchemasOf = (tenant: Principal) => ClientSchemas | Promise<ClientSchemas>;

/** Of all endpoints: the same ones for requests over HTTP and on a stream. */
export type EndpointCalls = Readonly<Record<EndpointName, EndpointCall>>;

export const endpointCalls = (handlers: Handlers, schemasOf: SchemasOf): EndpointCalls =>
  Object.fromEntries(
    (Object.keys(endpoints) as EndpointName[]).map((name) => [name, endpointCall(name, handlers, schemasOf)]),
  ) as unknown as EndpointCalls;

function endpointCall(name: EndpointName, handlers: Handlers, schemasOf: SchemasOf): EndpointCall {
  const handler = inNames(name, handlers[name] as Handler<never>, schemasOf);
  const endpoint: EndpointSchema = endpoints[name];
  const readBody = bodyReader(name, endpoint);
  return async ({ search, body: raw, ...request }) => {
    if (request.answer?.hasRoom() === false) return { refusal: refuse("too_many_answers") };
    const query = readQuery(search, endpoint.query as QueryTable | undefined, endpoint.filters);
    if (isRefusal(query)) return { refusal: query };
    const body = readBody(raw);
    if ("refusal" in body) return body;
    return await handler({ ...request, query, body: body.value } as unknown as ApiRequest<never>);
  };
}

/** For endpoints that name fields: answers under the names of the schema that the client has. */
function inNames(
  name: EndpointName,
  handler: Handler<never>,
  schemasOf: (tenant: Principal) => ClientSchemas | Promise<ClientSchemas>,
): Handler<never> {
  if (!isSpoken(name)) return handler;
  return async (asked) => {
    if (asked.schemaHeader === undefined) return await handler(asked);
    const said = readSaidHeader(asked.schemaHeader);
    if (isRefusal(said)) return { refusal: said };
    return (await answerInNames(name, handler, asked, await schemasOf(asked.principal), said)) as ApiResponse<never>;
  };
}

const TRANSLATED: ReadonlySet<EndpointName> = new Set<EndpointName>([
  "createRecord",
  "updateRecord",
  "deleteRecord",
  "archiveRecord",
  "unarchiveRecord",
]);

function bodyReader(
  name: EndpointName,
  endpoint: EndpointSchema,
): (body: unknown) => { value: unknown } | { refusal: Refusal } {
  const { body: schema } = endpoint;
  if (!schema) return (raw) => (isEmpty(raw) ? { value: undefined } : { refusal: strange(raw) });
  const check = endpoint.bodyJudged ? () => undefined : shapeCheck(schema);
  const translate = translatorOf(name);
  return (raw) => {
    if (raw === undefined)
      return endpoint.bodyOptional
        ? { value: undefined }
        : { refusal: refuse("invalid_body", { message: "This route needs a JSON body." }) };
    const value = translate(raw);
    const refusal = check(value);
    return refusal ? { refusal } : { value };
  };
}

/** For endpoints without a body: accept none, or an empty one. */
const isEmpty = (raw: unknown): boolean =>
  raw === undefined ||
  (typeof raw === "object" && raw !== null && !Array.isArray(raw) && Object.keys(raw).length === 0);

function strange(raw: unknown): Refusal {
  const [name] = typeof raw === "object" && raw !== null && !Array.isArray(raw) ? Object.keys(raw) : [];
  return name === undefined
    ? refuse("invalid_body", { message: "This route does not accept a body." })
    : refuse("unknown_field", { param: name, message: "This route does not accept a body." });
}

function translatorOf(name: EndpointName): (body: unknown) => unknown {
  if (name === "commit") return translateCommit;
  if (TRANSLATED.has(name)) return translateWrite;
  return NULLABLE.has(name) ? withoutNulls : (body) => body;
}

/** Endpoints in whose bodies null means absent. */
const NULLABLE: ReadonlySet<EndpointName> = new Set<EndpointName>([
  "acquireClaim",
  "acquireClaimOn",
  "renewClaim",
  "createWebhookEndpoint",
]);
