import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Plugin } from "vite";
import { FILES, SHELL_ADDRESS, type Shell } from "../worker/shell.ts";
import { demoFolder } from "./project.ts";

const WORKER = "shell-worker";

/** Builds the worker that opens the page without a network beside the page, and lists for it what the page is made of. */
export function shellPlugin(): Plugin {
  return {
    name: "holdfast-demo-shell",
    apply: "build",
    config: () => ({
      build: {
        rolldownOptions: {
          input: { page: join(demoFolder, "index.html"), [WORKER]: join(demoFolder, "worker", `${WORKER}.ts`) },
          output: {
            // A worker is known by its address, so that has to stay.
            entryFileNames: ({ name }) => (name === WORKER ? "[name].js" : `${FILES.slice(1)}[name]-[hash].js`),
          },
        },
      },
    }),
    generateBundle: {
      order: "post",
      handler(_, bundle) {
        const worker = bundle[`${WORKER}.js`];
        // It is started as a script, which cannot import.
        if (worker?.type !== "chunk" || worker.imports.length > 0)
          this.error("The worker has to be one file of its own.");
        const page = bundle["index.html"];
        if (page?.type !== "asset") return this.error("The build made no document.");
        const files = Object.keys(bundle)
          .map((name) => `/${name}`)
          .filter((name) => name.startsWith(FILES))
          .sort();
        const document = String(page.source);
        const version = createHash("sha256")
          .update(JSON.stringify([document, files]))
          .digest("hex")
          .slice(0, 16);
        const shell: Shell = { version, document, files };
        this.emitFile({ type: "asset", fileName: SHELL_ADDRESS.slice(1), source: JSON.stringify(shell) });
      },
    },
  };
}
