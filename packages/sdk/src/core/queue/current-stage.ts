import type { Stage } from "./mutation.ts";

/** The stages that earlier versions of this package spelled differently, on disk and in exports. */
export type FormerStage =
  | (Omit<Extract<Stage, { phase: "conflicted" }>, "phase" | "conflictedAfter"> & {
      readonly phase: "held";
      readonly heldAfter: number;
    })
  | (Omit<Extract<Stage, { phase: "rejected" }>, "phase"> & { readonly phase: "parked" });

export function currentStage(stage: Stage | FormerStage): Stage {
  if (stage.phase === "parked") return { ...stage, phase: "rejected" };
  if (stage.phase !== "held") return stage;
  const { heldAfter, ...rest } = stage;
  return { ...rest, phase: "conflicted", conflictedAfter: heldAfter };
}
