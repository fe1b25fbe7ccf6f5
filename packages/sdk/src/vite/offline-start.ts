import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";
import { SHELL_ADDRESS, type Shell } from "./worker/shell.ts";

const WORKER = "shell-worker.js";

/**
 * A plugin for Vite that makes the service worker `shell-worker.js` for a page that opens without a network. It caches
 * `index.html` and all files in `build.assetsDir`, also those that load on demand, and nothing else. The page registers
 * it: `navigator.serviceWorker?.register(`${import.meta.env.BASE_URL}shell-worker.js`)`.
 *
 * With `appType: "spa"`, Vite's default, it answers every page of the app; with `"mpa"`, only the one at the base.
 */
export function offlineStart(): Plugin {
  let folder = "";
  return {
    name: "holdfast-offline-start",
    apply: "build",
    applyToEnvironment: ({ name }) => name === "client",
    config: ({ build, appType = "spa" }) => ({
      define: {
        __HOLDFAST_FILES__: JSON.stringify(folderOf(build?.assetsDir)),
        __HOLDFAST_ROUTES__: JSON.stringify(appType === "spa"),
      },
    }),
    configResolved({ base, build }) {
      folder = folderOf(build.assetsDir);
      if (/^(https?:)?\/\//.test(base))
        throw new Error(
          `offlineStart needs a base on the page's own origin, because a worker is served from there (got "${base}").`,
        );
      if (folder === "/")
        throw new Error("offlineStart needs a folder of the files with a hash in their names: set build.assetsDir.");
    },
    buildStart() {
      // The name has no hash, because a browser knows a worker by its address.
      this.emitFile({ type: "chunk", id: workerSource(), fileName: WORKER });
    },
    generateBundle: {
      order: "post",
      handler(_, bundle) {
        const worker = bundle[WORKER];
        // It is started as a script, which cannot import.
        if (worker?.type !== "chunk" || worker.imports.length > 0)
          return this.error("The service worker must be one file of its own.");
        const page = bundle["index.html"];
        if (page?.type !== "asset") return this.error("offlineStart needs an index.html, and the build made none.");
        const files = Object.keys(bundle)
          .filter((name) => name.startsWith(folder))
          .sort();
        const document = String(page.source);
        const version = createHash("sha256")
          .update(JSON.stringify([document, files]))
          .digest("hex")
          .slice(0, 16);
        const shell: Shell = { version, document, files };
        this.emitFile({ type: "asset", fileName: SHELL_ADDRESS, source: JSON.stringify(shell) });
      },
    },
  };
}

const folderOf = (assetsDir = "assets") => `${assetsDir.replace(/^\.?\/+|\/+$/g, "")}/`;

/** Next to this file: TypeScript in a clone, JavaScript in the package. */
const workerSource = () =>
  fileURLToPath(new URL(`./worker/shell-worker${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url));
