import type { Plugin } from "vitest/config";

/** Compiles `.svelte` files for tests in a browser. */
export const svelteFiles = (): Plugin => ({
  name: "svelte-files",
  async transform(code, id) {
    if (!id.endsWith(".svelte")) return undefined;
    const { compile } = await import("svelte/compiler");
    return compile(code, { filename: id, generate: "client" }).js;
  },
});
