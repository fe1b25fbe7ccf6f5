import {
  type EndpointName,
  type EndpointSchema,
  ErrorEnvelope,
  endpoints,
  headers,
  INTERFACE_VERSION,
  paths,
} from "@holdfast/sdk/protocol";
import type { FastifyInstance } from "fastify";
import { PREFIXES } from "../../wire/address.ts";

/** The description of the interface, made from the same tables as the routes. */
export function mountOpenApi(app: FastifyInstance): void {
  const description = JSON.stringify(openApi());
  for (const prefix of PREFIXES)
    app.get(`${prefix}/openapi.json`, async (_request, reply) =>
      reply.type("application/json; charset=utf-8").send(description),
    );
}

function openApi() {
  const described: Record<string, Record<string, unknown>> = {};
  for (const name of Object.keys(paths) as EndpointName[]) {
    const [method, path] = paths[name];
    const template = path.replace(/:([A-Za-z]+)/g, "{$1}");
    described[template] = { ...described[template], [method.toLowerCase()]: operation(name, path, endpoints[name]) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Holdfast", version: INTERFACE_VERSION, license: { name: "MIT", identifier: "MIT" } },
    servers: [{ url: "/" }],
    security: [{ bearer: [] }],
    paths: described,
    components: {
      securitySchemes: { bearer: { type: "http", scheme: "bearer" } },
      schemas: { ErrorEnvelope },
      responses: {
        Error: {
          description: "What went wrong.",
          headers: { [headers.requestId]: { schema: { type: "string" } } },
          content: { "application/json": { schema: { $ref: "#/components/schemas/ErrorEnvelope" } } },
        },
      },
    },
  };
}

const FILTER_PARAMETER = {
  name: "filter",
  in: "query",
  description:
    "`filter[<field>]=v` (or `<field>=v`), `filter[<field>][gt|gte|lt|lte]=v`, `filter[<field>][null]=true|false`: all have to hold. Values of fields that hold no text are spelled as in JSON.",
  style: "deepObject",
  explode: true,
  schema: { type: "object", additionalProperties: true },
};

function operation(name: EndpointName, path: string, endpoint: EndpointSchema) {
  const replies = Object.entries(endpoint.reply).map(([status, schema]) => [
    status,
    { description: "Done.", content: { [endpoint.produces ?? "application/json"]: { schema } } },
  ]);
  return {
    operationId: name,
    summary: endpoint.summary,
    parameters: [
      ...[...path.matchAll(/:([A-Za-z]+)/g)].map(([, parameter]) => ({
        name: parameter,
        in: "path",
        required: true,
        schema: { type: "string" },
      })),
      ...Object.entries(endpoint.query ?? {}).map(([parameter, { description, repeatable }]) => ({
        name: parameter,
        in: "query",
        description,
        schema: repeatable ? { type: "array", items: { type: "string" } } : { type: "string" },
      })),
      ...(endpoint.filters ? [FILTER_PARAMETER] : []),
    ],
    ...(endpoint.body && {
      requestBody: { required: !endpoint.bodyOptional, content: { "application/json": { schema: endpoint.body } } },
    }),
    responses: { ...Object.fromEntries(replies), default: { $ref: "#/components/responses/Error" } },
  };
}
