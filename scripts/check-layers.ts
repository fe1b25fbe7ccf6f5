import { readFileSync } from "node:fs";
import { judgeLayers, staleNames } from "./layers/judge.ts";
import { sourceFiles } from "./source-files.ts";

// Refuses imports against the picture, circles, and clocks or dice where decisions are made. A template is an app of its
// own, and the picture knows no apps of users.
const texts = new Map(
  sourceFiles(["packages", "apps", "e2e", "qa", "scripts", "site"])
    .filter((file) => !file.startsWith("packages/create-holdfast/templates/"))
    .map((file) => [file, readFileSync(file, "utf8")]),
);
const breaches = [
  ...judgeLayers(texts),
  ...staleNames([...texts.keys()]).map((name) => `scripts/layers/picture.ts names ${name}, where no file is`),
];
for (const breach of breaches) console.error(`layers: ${breach}`);
console.error(`layers: ${texts.size} files, ${breaches.length} break the layer rules`);
process.exitCode = breaches.length > 0 ? 1 : 0;
