import {
  CreateBody,
  type EndpointName,
  endpoints,
  type Model,
  paths,
  ReadEnvelope,
  UpdateBody,
} from "@holdfast/sdk/protocol";
import type { PublicUrl } from "../../addresses/public-url.ts";
import { info } from "./info.ts";
import { createSchemas, type Plain, type Schemas } from "./json-schema.ts";
import { dataSchemas } from "./model-schemas.ts";
import {
  type Describing,
  headerComponents,
  type ModelParts,
  modelTag,
  operation,
  parameterComponents,
  tagOf,
} from "./operation.ts";
import { createShared } from "./shared.ts";
import { asSpelled } from "./spelled-bodies.ts";

/** The OpenAPI description, generated from the same tables as the routes. With models, each model has its own paths. */
export function openApi(publicUrl: PublicUrl, models: Readonly<Record<string, Model>> = {}): Plain {
  const describing: Describing = {
    schemas: createSchemas(asSpelled),
    responses: createShared("responses"),
    docUrl: publicUrl.docUrl,
  };
  const described: Record<string, Plain> = {};
  const put = (path: string, method: string, what: Plain) => {
    const template = path.replace(/:([A-Za-z]+)/g, "{$1}");
    described[template] = { ...described[template], [method.toLowerCase()]: what };
  };
  const isOfModels = Object.keys(models).length > 0;
  for (const name of Object.keys(paths) as EndpointName[])
    if (!(isOfModels && OTHERWISE_AMBIGUOUS.has(name)))
      put(paths[name][1], paths[name][0], operation(name, endpoints[name], describing));
  for (const [modelName, model] of Object.entries(models)) {
    const parts = partsOf(modelName, model, describing.schemas);
    for (const name of Object.keys(paths) as EndpointName[]) {
      const [method, path] = paths[name];
      if (path.includes(":model"))
        put(
          path.replace(":model", modelName.toLowerCase()),
          method,
          operation(name, endpoints[name], describing, parts(name)),
        );
    }
  }
  return {
    openapi: "3.1.0",
    info: info(publicUrl.base()),
    servers: [{ url: publicUrl.base(), description: "This server." }],
    security: [{ token: [] }],
    tags: tagsOf(Object.keys(models)),
    paths: described,
    components: {
      securitySchemes: SECURITY,
      parameters: parameterComponents(),
      headers: headerComponents(),
      responses: describing.responses.all(),
      schemas: describing.schemas.all(),
    },
  };
}

/** `/v1/models/slide/query` would be both `/v1/models/{model}/query` and `/v1/models/slide/{id}`. */
const OTHERWISE_AMBIGUOUS: ReadonlySet<EndpointName> = new Set<EndpointName>(["queryRecords"]);

/** The model-specific parts of operations, by endpoint. */
function partsOf(name: string, model: Model, schemas: Schemas): (endpoint: EndpointName) => ModelParts {
  const data = dataSchemas(name, model, schemas);
  // Only a favorite may be created without an id.
  const isFavorite = name.toLowerCase() === "favorite";
  const create = withData(schemas.whole(CreateBody), data.created, isFavorite ? [] : ["id"]);
  const update = withData(schemas.whole(UpdateBody), data.updated);
  const read = withData(schemas.whole(ReadEnvelope), data.read);
  const list = withData(schemas.whole(endpoints.listRecords.reply[200]), { type: "array", items: data.read }, [
    "model",
    "has_previous",
    "previous_cursor",
  ]);
  const listOf = schemas.put(`${name}_List`, named(name, list));
  const own: Partial<Record<EndpointName, Pick<ModelParts, "body" | "reply">>> = {
    createRecord: { body: create },
    updateRecord: { body: update },
    readRecord: { reply: schemas.put(`${name}_Record`, named(name, read)) },
    listRecords: { reply: listOf },
    queryRecords: { reply: listOf },
  };
  return (endpoint) => ({ name, sortable: data.sortable, example: data.example, ...own[endpoint] });
}

/** Sets the model's `data` on an envelope, and marks further keys as required. */
const withData = (schema: Plain, data: Plain, surely: readonly string[] = []): Plain => ({
  ...schema,
  properties: { ...(schema.properties as Plain), data },
  required: [...new Set([...((schema.required as string[] | undefined) ?? []), ...surely])],
});

const named = (name: string, schema: Plain): Plain => ({
  ...schema,
  properties: { ...(schema.properties as Plain), model: { type: "string", const: name } },
});

/** One tag per kind of route, and one per model. */
const tagsOf = (models: readonly string[]): Plain[] => [
  ...[...new Set(Object.values(paths).map(([, path]) => tagOf(path)))].map((name) => ({
    name,
    description: AREAS[name] ?? `Everything below \`/v1/${name}\`.`,
  })),
  ...models.map((name) => ({ name: modelTag(name), description: `Records of the model "${name}".` })),
];

const AREAS: Readonly<Record<string, string>> = {
  models: "Single records of any model.",
  commits: "Several operations, applied together or not at all.",
  log: "Every change, in the order in which it was committed.",
  snapshot: "The current state of all records, to start from.",
  schema: "The models of this tenant.",
  datasources: "The databases that store rows.",
  usage: "Usage, counted by day.",
  organizations: "For the operator of the server.",
  secret_keys: "For the operator of the server.",
};

const SECURITY: Plain = {
  token: { type: "http", scheme: "bearer", description: "Any token of the organization." },
  secretKey: { type: "http", scheme: "bearer", description: "A secret key (`sk_live_…`, `sk_test_…`)." },
  operator: { type: "http", scheme: "bearer", description: "The operator's token." },
};
