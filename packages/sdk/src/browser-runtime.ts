import { browserPorts } from "./browser/browser-ports.ts";
import { openRuntime as open, type Runtime, type RuntimeDeps } from "./runtime.ts";

/** Creates the runtime of a client in a browser. */
export const openRuntime = (deps: RuntimeDeps): Runtime =>
  open(
    {
      ...browserPorts(deps.clock, deps.settings.persist),
      // A separate chunk: it is large, and does not change with this package.
      storage: async (name) => (await import("./storage/indexeddb.ts")).indexedDbStorage({ name }),
      merging: () => import("./text/merge-text.ts"),
    },
    deps,
  );
