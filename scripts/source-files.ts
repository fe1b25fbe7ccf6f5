import { readdirSync } from "node:fs";

/** Every TypeScript file below these folders that is written by hand, by its path from the project's folder. */
export function sourceFiles(folders: string[]): string[] {
  return folders.flatMap((folder) =>
    readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return madeByTools.has(entry.name) ? [] : sourceFiles([path]);
      return /\.tsx?$/.test(entry.name) ? [path] : [];
    }),
  );
}

const madeByTools = new Set(["node_modules", "dist", "test-results"]);
