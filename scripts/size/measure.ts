import { gzipSync } from "node:zlib";
import { build, type Metafile } from "esbuild";

export type BundleRequest = {
  /** A file, or a text that imports as if it lay in that folder. */
  entry: string | { text: string; folder: string };
  /** Packages that the app brings itself. */
  external?: string[];
};

export type BundleSize = {
  /** What a page loads at once, gzipped. */
  bytes: number;
  /** What it loads later, when asked for, gzipped. */
  laterBytes: number;
  /** The packages in each, by name. */
  packages: string[];
  laterPackages: string[];
};

/** Bundles as an app would, from the sources, and weighs what comes out. Writes nothing. */
export async function measureBundle({ entry, external = [] }: BundleRequest): Promise<BundleSize> {
  const { metafile, outputFiles } = await build({
    ...(typeof entry === "string"
      ? { entryPoints: [entry] }
      : { stdin: { contents: entry.text, resolveDir: entry.folder, loader: "ts" as const } }),
    outdir: "/bundle",
    bundle: true,
    splitting: true,
    minify: true,
    metafile: true,
    write: false,
    format: "esm",
    platform: "browser",
    target: "es2022",
    conditions: ["holdfast-source"],
    external,
    logLevel: "silent",
  });
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, output], at) => [path, { ...output, at }]));
  const first = [...outputs].find(([, output]) => output.entryPoint)?.[0] ?? "";
  const atOnce = loadedWith(first, metafile);
  const later = [...outputs.keys()].filter((path) => !atOnce.has(path));
  const weigh = (paths: Iterable<string>) =>
    [...paths].reduce(
      (sum, path) => sum + gzipSync(outputFiles[outputs.get(path)?.at ?? -1]?.contents ?? "").length,
      0,
    );
  return {
    bytes: weigh(atOnce),
    laterBytes: weigh(later),
    packages: packagesIn(atOnce, metafile),
    laterPackages: packagesIn(later, metafile),
  };
}

/** An output and everything that it imports without being asked. */
function loadedWith(path: string, metafile: Metafile, loaded = new Set<string>()): Set<string> {
  if (loaded.has(path)) return loaded;
  loaded.add(path);
  for (const { path: next, kind, external } of metafile.outputs[path]?.imports ?? []) {
    if (kind === "import-statement" && !external) loadedWith(next, metafile, loaded);
  }
  return loaded;
}

function packagesIn(paths: Iterable<string>, metafile: Metafile): string[] {
  const inputs = [...paths].flatMap((path) => Object.entries(metafile.outputs[path]?.inputs ?? {}));
  const names = inputs
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .flatMap(([input]) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1] ?? []);
  return [...new Set(names)].sort();
}
