import { isPublicHost } from "../../edge/outbound/endpoint-url.ts";
import { boundedUrl } from "../../kernel/connection/answer-bound.ts";
import { publicOnlyUrl } from "../../kernel/connection/public-socket.ts";
import type { CheckDatabaseDeps } from "./flows/check-database.ts";

/** How tenants' own databases are connected to, by the server and by the operator's commands. */
export const datasourceReach = (allowPrivate: boolean): Omit<CheckDatabaseDeps, "service"> =>
  allowPrivate
    ? { mayReach: async () => true, guarded: boundedUrl }
    : { mayReach: isPublicHost, guarded: (url) => publicOnlyUrl(boundedUrl(url)) };
