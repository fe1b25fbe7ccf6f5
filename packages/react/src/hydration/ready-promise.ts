import type { AnyClient } from "../model-of.ts";

interface Arrival {
  isHere: boolean;
  failed?: { readonly error: unknown };
  readonly promise: Promise<void>;
}

const arrivals = new WeakMap<AnyClient, Arrival>();

/**
 * Undefined once the client's rows can be read; until then the promise to suspend on, always the same. Throws if it was
 * rejected, because React would otherwise render again and suspend on it forever.
 */
export function arrival(client: AnyClient): Promise<void> | undefined {
  const known = arrivals.get(client) ?? begin(client);
  arrivals.set(client, known);
  if (known.failed) throw known.failed.error;
  return known.isHere ? undefined : known.promise;
}

function begin(client: AnyClient): Arrival {
  const { name, syncId } = client.status();
  const promise = client.ready().then(
    () => {
      made.isHere = true;
    },
    (error) => {
      made.failed = { error };
    },
  );
  const made: Arrival = { isHere: name === "online" || syncId > 0, promise };
  return made;
}
