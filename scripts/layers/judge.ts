import { findCycles } from "./cycles.ts";
import { judgeMachines } from "./machines.ts";
import { guardedPackages, isTest, type Layer, picture, quality, testFolders } from "./picture.ts";
import { type Import, readSource, type Source } from "./read-source.ts";

/** Every breach of the picture in these files (path → text), one line each. */
export function judgeLayers(texts: Map<string, string>): string[] {
  const sources = [...texts].map(([file, text]) => readSource(file, text));
  return [
    ...sources.filter(({ file }) => !isTest(file)).flatMap(judge),
    ...[...texts].filter(([file]) => !isTest(file)).flatMap(([file, text]) => judgeMachines(file, text)),
    ...findCycles(sources).map((cycle) => `these files import each other in a cycle: ${cycle.join(" → ")}`),
  ];
}

/** Beginnings of paths in the picture that lead to no file of these: what they allow is gone, and a typing error hides there. */
export function staleNames(files: readonly string[]): string[] {
  const named = [
    ...picture.flatMap(({ files: own, imports = [], types = [] }) => [own, ...imports, ...types]),
    ...guardedPackages.flatMap(({ only }) => only),
  ];
  return [...new Set(named)].filter((name) => !files.some((file) => file.startsWith(name)));
}

function judge({ file, imports, clocksAndRandom }: Source): string[] {
  const layer = picture.find(({ files }) => file.startsWith(files));
  if (!layer) return [`${file} belongs to no layer: add it to scripts/layers/picture.ts`];
  return [
    ...imports.flatMap((one) => {
      const why = breach(file, layer, one);
      return why ? [`${file}:${one.line} must not import ${one.to}: ${why}`] : [];
    }),
    ...(layer.pure ? clocksAndRandom : []).map(
      ({ says, line }) => `${file}:${line} must not ask ${says}: pass the value in as an argument`,
    ),
  ];
}

function breach(file: string, layer: Layer, { to, typeOnly }: Import): string | undefined {
  const inProject = /^(packages|apps|e2e|scripts)\//.test(to);
  if (testFolders.test(to) && !testFolders.test(file) && !beginsWithOne(file, quality))
    return "only tests can import test code";
  if (!inProject) return packageBreach(file, layer, to);
  if (beginsWithOne(to, [...(layer.imports ?? []), layer.files])) return undefined;
  if (!beginsWithOne(to, layer.types ?? [])) return `${layer.files} cannot import from there`;
  return typeOnly ? undefined : `${layer.files} can import only types from there`;
}

function packageBreach(file: string, layer: Layer, name: string): string | undefined {
  if (layer.packages) {
    return layer.packages.includes(name) ? undefined : `${layer.files} imports only ${list(layer.packages)}`;
  }
  return guardedPackages.find(({ packages, only }) => packages.test(name) && !beginsWithOne(file, only))?.because;
}

const beginsWithOne = (path: string, beginnings: string[]) =>
  beginnings.some((beginning) => path.startsWith(beginning));

const list = (names: string[]) => (names.length > 0 ? names.join(", ") : "its own project");
