import { boundedUrl } from "../../db/connection/answer-bound.ts";
import { publicOnlyUrl } from "../../db/connection/public-socket.ts";
import { isPublicHost } from "../../outbound/endpoint-url.ts";
import type { CheckDatabaseDeps } from "./flows/check-database.ts";

/** How tenants' own databases are connected to, by the server and by the operator's commands. */
export const datasourceReach = (allowPrivate: boolean): Omit<CheckDatabaseDeps, "service"> =>
  allowPrivate
    ? { mayReach: async () => true, guarded: boundedUrl }
    : { mayReach: isPublicHost, guarded: (url) => publicOnlyUrl(boundedUrl(url)) };
