import type { AnyClient } from "../model-of.ts";

interface Arrival {
  isHere: boolean;
  failed?: { readonly error: unknown };
  readonly promise: Promise<void>;
}

/** Any rows, or all that the server has. */
type Rows = "any" | "complete";

const arrivals = { any: new WeakMap<AnyClient, Arrival>(), complete: new WeakMap<AnyClient, Arrival>() };

/**
 * Undefined once the client's rows can be read; until then the promise to suspend on, always the same. Throws if it was
 * rejected, because React would otherwise render again and suspend on it forever.
 */
export function arrival(client: AnyClient, rows: Rows): Promise<void> | undefined {
  const known = arrivals[rows].get(client) ?? begin(client, rows);
  arrivals[rows].set(client, known);
  if (known.failed) throw known.failed.error;
  return known.isHere ? undefined : known.promise;
}

function begin(client: AnyClient, wanted: Rows): Arrival {
  const { name, rows, syncId } = client.status();
  const promise = client.ready({ rows: wanted }).then(
    () => {
      made.isHere = true;
    },
    (error) => {
      made.failed = { error };
    },
  );
  const made: Arrival = {
    isHere: wanted === "complete" ? rows === "complete" : name === "online" || syncId > 0,
    promise,
  };
  return made;
}
