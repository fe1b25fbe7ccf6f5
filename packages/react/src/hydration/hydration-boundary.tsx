import { type ReactElement, type ReactNode, useContext, useMemo } from "react";
import type { Snapshot } from "./dehydrate.ts";
import { SeedContext } from "./hydration.ts";

/**
 * Shows a server's results for the page (`dehydrate`) until the client has read as far itself. Boundaries can be
 * nested: a query that the inner one does not contain is looked up in the outer one.
 */
export function HydrationBoundary(props: { state: Snapshot; children?: ReactNode | undefined }): ReactElement {
  const outer = useContext(SeedContext);
  const seed = useMemo(() => ({ state: props.state, outer }), [props.state, outer]);
  return <SeedContext.Provider value={seed}>{props.children}</SeedContext.Provider>;
}
