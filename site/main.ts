import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { root } from "../scripts/root.mjs";

const { values } = parseArgs({
  options: {
    serve: { type: "boolean" },
    edit: { type: "boolean" },
    base: { type: "string", default: "/" },
    out: { type: "string" },
    port: { type: "string", default: "4173" },
    help: { type: "boolean" },
  },
});
const usage = `Usage: npm run docs [-- --serve | --edit] [--base PATH] [--out FOLDER] [--port N]

Builds docs/ and the pages that it links to into site/dist, as a site of fixed files.

  --serve       serves it on this machine after that
  --edit        instead, serves the pages as they are, and again after each change
  --base PATH   the path under which the site will be: /
  --out FOLDER  another folder to build into
  --port N      the port of --edit, and of --serve, where 0 is any: 4173
`;
const say = (line: string): void => void process.stderr.write(`docs: ${line}\n`);

if (values.help) process.stdout.write(usage);
else await (values.edit ? edit() : build());

async function build(): Promise<void> {
  const base = `/${values.base}/`.replaceAll(/\/+/g, "/");
  const outDir = resolve(values.out ?? join(root, "site/dist"));
  const { build: buildSite } = await import("vitepress");
  await buildSite(join(root, "site"), { base, outDir });
  const { addresses } = await import("./pages.ts");
  say(`${addresses.size} pages in ${outDir}`);
  if (!values.serve) return;
  const { serveFolder } = await import("./serve-folder.ts");
  say(`open ${(await serveFolder(outDir, { base, port: Number(values.port) })).url}`);
}

async function edit(): Promise<void> {
  const { createServer } = await import("vitepress");
  const server = await createServer(join(root, "site"), { host: "127.0.0.1", port: Number(values.port) });
  await server.listen();
  say(`open ${server.resolvedUrls?.local[0]}`);
}
