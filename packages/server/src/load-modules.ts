import { createRequire } from "node:module";
import { isAbsolute, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { ConfigError } from "./config.ts";
import { checkModules } from "./modules/own-module.ts";
import type { ServerModule } from "./server-module.ts";

/** Imports modules by the path of a file (`./…`, absolute), or by the name of a package, from a folder. */
export async function loadModules(names: readonly string[], folder: string): Promise<readonly ServerModule[]> {
  const modules = await Promise.all(names.map((name) => loadModule(name, folder)));
  try {
    checkModules(modules);
  } catch (error) {
    throw new ConfigError(`HOLDFAST_MODULES: ${(error as Error).message}`);
  }
  return modules;
}

async function loadModule(name: string, folder: string): Promise<ServerModule> {
  const loaded = await importFrom(name, folder).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    const hint = isFile(name)
      ? ""
      : " The path of a file must begin with ./. For a package that can only be imported, name its file, like ./node_modules/a-package/index.js.";
    throw new ConfigError(`HOLDFAST_MODULES: "${name}" cannot be loaded: ${reason}${hint}`);
  });
  if (typeof loaded.default !== "object" || loaded.default === null)
    throw new ConfigError(`HOLDFAST_MODULES: "${name}" has no module as its default export.`);
  return loaded.default as ServerModule;
}

async function importFrom(name: string, folder: string): Promise<{ readonly default?: unknown }> {
  const file = isFile(name) ? resolve(folder, name) : createRequire(join(folder, "package.json")).resolve(name);
  return await import(pathToFileURL(file).href);
}

const isFile = (name: string): boolean => name.startsWith(".") || isAbsolute(name);
