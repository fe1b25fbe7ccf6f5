import { type EndpointName, paths } from "@holdfast/sdk/protocol";
import type { Wire } from "./wire.ts";

/** Which endpoint a request is for, by its own address: mutations lead requests elsewhere. */
export interface Routes {
  endpointOf(wire: Pick<Wire, "method" | "target">): EndpointName | undefined;
}

const MOST_PARAMETER = 512;

export function createRoutes(): Routes {
  const patterns = (Object.keys(paths) as EndpointName[]).map((endpoint) => ({
    endpoint,
    method: paths[endpoint][0] as string,
    parts: paths[endpoint][1].split("/").slice(1),
  }));
  return {
    endpointOf({ method, target }) {
      const path = decoded(target.split("?")[0] ?? "");
      const parts = path?.split("/").slice(1) ?? [];
      if (parts[0] === "api") parts.shift();
      const asked = method === "HEAD" ? "GET" : method;
      return patterns.find(
        (pattern) =>
          pattern.method === asked &&
          pattern.parts.length === parts.length &&
          pattern.parts.every((part, i) =>
            part.startsWith(":") ? isParameter(parts[i] as string) : part === parts[i],
          ),
      )?.endpoint;
    },
  };
}

/** It may be empty: `/v1/models//a` is a record of the model of no name. */
const isParameter = (text: string): boolean => text.length <= MOST_PARAMETER;

/** As a router reads it: an encoded slash does not divide. Undefined: it cannot be decoded. */
function decoded(path: string): string | undefined {
  try {
    return decodeURI(path);
  } catch {
    return undefined;
  }
}
