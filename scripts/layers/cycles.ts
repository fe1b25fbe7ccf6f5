import type { Source } from "./read-source.ts";

/** Groups of files that import each other in a circle, types included: such files cannot be read or moved alone. */
export function findCycles(sources: Source[]): string[][] {
  const importsOf = new Map(sources.map(({ file, imports }) => [file, imports.map(({ to }) => to)]));
  const cycles: string[][] = [];
  const finished = new Set<string>();
  const path: string[] = [];

  function visit(file: string): void {
    const at = path.indexOf(file);
    if (at >= 0) cycles.push([...path.slice(at), file]);
    if (at >= 0 || finished.has(file)) return;
    path.push(file);
    for (const next of importsOf.get(file) ?? []) visit(next);
    path.pop();
    finished.add(file);
  }

  for (const file of importsOf.keys()) visit(file);
  return cycles;
}
