// @vitest-environment node
import { build } from "esbuild";
import { expect, test } from "vitest";
import { root } from "../../../../scripts/root.mjs";

const app = (entry: string) => `
  import { createElement } from "react";
  import { HoldfastDevtools } from "./packages/react/src/devtools/${entry}";
  export const page = () => createElement(HoldfastDevtools, { defaultOpen: true });
  export const answer = HoldfastDevtools({});
`;

async function bundle(mode: string, entry = "index.ts") {
  const { outputFiles, metafile } = await build({
    stdin: { contents: app(entry), resolveDir: root, loader: "ts" },
    define: { "process.env.NODE_ENV": JSON.stringify(mode) },
    ...{ bundle: true, minify: true, write: false, metafile: true, format: "esm", conditions: ["holdfast-source"] },
    external: ["react", "react/*", "@holdfast/sdk"],
    absWorkingDir: root,
  });
  const [output] = Object.values(metafile.outputs);
  const inputs = Object.entries(output?.inputs ?? {}).filter(([, { bytesInOutput }]) => bytesInOutput > 0);
  return { text: outputFiles[0]?.text ?? "", files: inputs.map(([file]) => file.replace(/^.*\/src\//, "")) };
}

test("[V24] a production build has nothing of the panel but a component that renders nothing", async () => {
  const production = await bundle("production");
  expect(production.files).toEqual(["<stdin>", "devtools/index.ts"]);
  expect(production.text).not.toMatch(/holdfast|recorder|useState/i);
  expect(production.text.length).toBeLessThan(300);
  const development = await bundle("development");
  expect(development.files).toEqual(expect.arrayContaining(["devtools/panel.tsx", "devtools/styles.ts"]));
  expect(development.text).toContain("holdfast-devtools");
});

test("[V24] devtools/production exports the panel, also in a production build", async () => {
  const { files, text } = await bundle("production", "production.ts");
  expect(files).toEqual(expect.arrayContaining(["devtools/panel.tsx", "devtools/styles.ts"]));
  expect(text).toContain("holdfast-devtools");
});
