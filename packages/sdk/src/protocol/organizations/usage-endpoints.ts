import type { EndpointSchema } from "../endpoint-schema.ts";
import { ListEnvelope } from "../lists/list.ts";
import type { EndpointName } from "../paths.ts";
import { Usage } from "./usage.ts";

/** What an organization used. */
export const usageEndpoints = {
  readUsage: {
    summary: "Read the usage of each day",
    audience: "secret_key",
    query: {
      starting_at: { description: "First UTC day, as `2026-01-31` or a date-time; default 29 days before the last." },
      ending_at: { description: "Last UTC day, inclusive; default today." },
    },
    reply: { 200: ListEnvelope(Usage) },
  },
} as const satisfies Partial<Record<EndpointName, EndpointSchema>>;
