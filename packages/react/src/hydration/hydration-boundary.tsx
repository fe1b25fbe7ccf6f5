import { type ReactElement, type ReactNode, useContext, useMemo } from "react";
import type { Snapshot } from "./dehydrate.ts";
import { SeedContext } from "./hydration.ts";

/**
 * Shows what a server has read for the page (`dehydrate`) until the client has read as far itself. Boundaries may lie
 * within each other: what the inner one does not answer, the outer one does.
 */
export function HydrationBoundary(props: { state: Snapshot; children?: ReactNode }): ReactElement {
  const outer = useContext(SeedContext);
  const seed = useMemo(() => ({ state: props.state, outer }), [props.state, outer]);
  return <SeedContext.Provider value={seed}>{props.children}</SeedContext.Provider>;
}
