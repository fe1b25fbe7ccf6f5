const core = "packages/sdk/src/core/";

/** Which folder of the client's core changes the fields of which machine (`core/state.ts`). */
const machines: Readonly<Record<string, readonly string[]>> = {
  StoreState: ["store/"],
  SessionState: ["connection/"],
  ReplicaState: ["log/"],
  QueueState: ["queue/", "conflicts/", "draft.ts"],
  TabsState: ["tabs/"],
};

/** The five machines with few handlers. */
const ALL = `${core}first-step.ts`;

/** Where a file changes fields of a machine that is not its own. */
export function judgeMachines(file: string, text: string): string[] {
  if (!file.startsWith(core) || file === ALL) return [];
  return [...text.matchAll(/\bset<(\w+)>/g)].flatMap(({ 1: name = "", index }) => {
    const own = machines[name]?.some((folder) => file.startsWith(core + folder));
    const line = text.slice(0, index).split("\n").length;
    return own ? [] : [`${file}:${line} must not change fields of ${name}: call a function of the folder that does`];
  });
}
