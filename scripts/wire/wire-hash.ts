import { createHash } from "node:crypto";
import { STREAM_PATH } from "../../packages/sdk/src/protocol/client-paths.ts";
import type { EndpointSchema } from "../../packages/sdk/src/protocol/endpoint-schema.ts";
import { endpoints } from "../../packages/sdk/src/protocol/endpoints.ts";
import { ErrorEnvelope } from "../../packages/sdk/src/protocol/errors/error.ts";
import { errorCodes } from "../../packages/sdk/src/protocol/errors/error-codes.ts";
import { statusesInBodies } from "../../packages/sdk/src/protocol/errors/error-sentences.ts";
import { headers } from "../../packages/sdk/src/protocol/headers.ts";
import { SnapshotEnd, SnapshotLine, SnapshotStart } from "../../packages/sdk/src/protocol/log/snapshot.ts";
import { paths } from "../../packages/sdk/src/protocol/paths.ts";
import { closeCodes } from "../../packages/sdk/src/protocol/stream/close-codes.ts";
import { FrameDown } from "../../packages/sdk/src/protocol/stream/frames-down.ts";
import { FrameUp } from "../../packages/sdk/src/protocol/stream/frames-up.ts";
import { Part } from "../../packages/sdk/src/protocol/stream/part-frames.ts";
import { STREAM_PROTOCOL } from "../../packages/sdk/src/protocol/version.ts";
import { WebhookBatch } from "../../packages/sdk/src/protocol/webhooks/webhook-event.ts";
import { webhookHeaders } from "../../packages/sdk/src/protocol/webhooks/webhook-limits.ts";

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** Everything that one side sends and the other reads, as plain JSON. Sentences for people are not part of it. */
export const wire = (): Json =>
  JSON.parse(
    JSON.stringify({
      endpoints: Object.fromEntries(
        Object.entries<EndpointSchema>(endpoints).map(([name, { summary, query = {}, ...endpoint }]) => [
          name,
          {
            ...endpoint,
            route: paths[name as keyof typeof paths],
            query: Object.fromEntries(
              Object.entries(query).map(([parameter, { description, ...rest }]) => [parameter, rest]),
            ),
            errors: [...(endpoint.errors ?? [])].sort(),
          },
        ]),
      ),
      snapshot: [SnapshotStart, SnapshotLine, SnapshotEnd],
      stream: { path: STREAM_PATH, protocol: STREAM_PROTOCOL, up: FrameUp, part: Part, down: FrameDown, closeCodes },
      errors: {
        envelope: ErrorEnvelope,
        codes: Object.fromEntries(
          Object.entries(errorCodes).map(([code, { type, status }]) => [code, { type, status }]),
        ),
        statusesInBodies,
      },
      headers,
      webhooks: { batch: WebhookBatch, headers: webhookHeaders },
    }),
  );

/** The same for the same wire, however its schemas are written down. */
export const wireHash = (of: Json = wire()): string =>
  createHash("sha256")
    .update(JSON.stringify(canonical(of)))
    .digest("hex")
    .slice(0, 16);

/** Neither the order of keys says anything, nor that of required properties, nor that of the members of a union. */
function canonical(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(canonical);
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => {
        const item = canonical(inner);
        return [
          key,
          UNORDERED.has(key) && Array.isArray(item) ? item.map((each) => JSON.stringify(each)).sort() : item,
        ];
      }),
  );
}

const UNORDERED = new Set(["required", "anyOf", "allOf"]);
