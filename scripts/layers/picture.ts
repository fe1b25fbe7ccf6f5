/**
 * Who may import whom, as ARCHITECTURE.md draws it. A file belongs to the first line whose `files` its path starts
 * with. It may always import its own layer. Types alone cost nothing at run time, so some doors are open to them only.
 */
export type Layer = {
  files: string;
  /** Beginnings of paths that it may import. */
  imports?: string[];
  /** Beginnings of paths from which it may import types. */
  types?: string[];
  /** Packages that it may import; absent: any but the guarded ones. */
  packages?: string[];
  /** Decides from what it is given: no clock and no dice. */
  pure?: true;
};

const sdk = "packages/sdk/src";
const server = "packages/server/src";
const suite = "packages/conformance/src";
const words = "@holdfast/sdk/protocol";
const suitePackages = [
  "ws",
  ...["crypto", "fs", "http", "https", "net", "path", "timers/promises", "tls", "util"].map((name) => `node:${name}`),
];
/** Tools and tests that look at the whole: they may import anything, also what is made for tests. */
export const quality = ["qa/", "e2e/", "scripts/", "site/"];

/** Subjects beside the server's kernel. The kernel and the edges import none of them, and none imports another. */
const modules = ["claims", "databases", "presence", "sources", "tables", "webhooks"];
const kernel = `${server}/kernel`;
/** Subjects of the kernel, each with decisions in `rules/`, SQL in `db/` and what joins them in `flows/`. */
const subjects = ["commits", "lists", "log", "organizations", "schema", "tokens"];
const inSubjects = (layer: string): string[] => subjects.map((name) => `${kernel}/${name}/${layer}/`);
const RULES = [...inSubjects("rules"), `${kernel}/json/`, `${kernel}/refusal.ts`, `${kernel}/database-health.ts`];
const DB = [...inSubjects("db"), `${kernel}/connection/`];
/** What several subjects use. */
const BESIDE = ["datasource-kind", "encryption", "failure", "module-hooks", "part", "readiness", "sized-cache"]
  .concat(["stream-answers", "tenant-data"])
  .map((name) => `${kernel}/${name}.ts`);
/** What the edges see of the kernel. */
const FLOWS = [
  ...inSubjects("flows"),
  ...BESIDE,
  `${kernel}/limits/`,
  `${kernel}/stream/`,
  ...RULES,
  `${server}/ids.ts`,
];

export const picture: Layer[] = [
  // words and decisions
  { files: `${sdk}/protocol/`, packages: ["typebox"], pure: true },
  { files: `${sdk}/core/`, imports: [`${sdk}/protocol/`], packages: [], pure: true },
  ...RULES.map((files) => ({ files, imports: RULES, packages: [words], pure: true as const })),
  // The same layers inside a module
  ...["claims", "databases", "sources", "tables", "webhooks"].map((name) => ({
    files: `${server}/modules/${name}/rules/`,
    imports: RULES,
    packages: [words],
    pure: true as const,
  })),

  // the SDK: actions, edges, what users hold
  { files: `${sdk}/errors.ts`, imports: [`${sdk}/core/`, `${sdk}/protocol/`], packages: [] },
  { files: `${sdk}/webhooks/`, imports: [`${sdk}/protocol/`], packages: [] },
  {
    // With the secret key, in any runtime that has fetch
    files: `${sdk}/backend/`,
    imports: [`${sdk}/core/`, `${sdk}/protocol/`, `${sdk}/webhooks/`, `${sdk}/errors.ts`],
    packages: ["ky"],
  },
  {
    // Texts that two people have changed: loaded only by apps whose schema has such fields
    files: `${sdk}/text/`,
    packages: ["diff"],
    pure: true,
  },
  {
    files: `${sdk}/engine/`,
    imports: [`${sdk}/core/`, `${sdk}/protocol/`, `${sdk}/errors.ts`],
  },
  ...["storage", "transport", "browser"].map((edge) => ({
    files: `${sdk}/${edge}/`,
    // Of the engine they see only what it asks of them, and how it gives way to other work.
    imports: [
      ...[`${sdk}/engine/ports.ts`, `${sdk}/engine/next-task.ts`],
      ...[`${sdk}/core/`, `${sdk}/protocol/`, `${sdk}/errors.ts`],
    ],
  })),
  {
    // Storage and requests of processes: an edge that knows Node
    files: `${sdk}/node/`,
    imports: [`${sdk}/storage/`, `${sdk}/engine/ports.ts`, `${sdk}/core/`, `${sdk}/protocol/`, `${sdk}/errors.ts`],
    types: [`${sdk}/transport/`],
  },
  {
    files: `${sdk}/api/`,
    imports: [`${sdk}/engine/`, `${sdk}/core/`, `${sdk}/protocol/`, `${sdk}/errors.ts`, `${sdk}/options.ts`],
  },
  {
    // What a person types, until it is written: works with a client from outside
    files: `${sdk}/draft/`,
    imports: [`${sdk}/text/`],
    types: [`${sdk}/api/`, `${sdk}/protocol/`],
    packages: [],
  },
  {
    // What components of any framework show: works with a client from outside
    files: `${sdk}/bindings/`,
    types: [`${sdk}/api/`, `${sdk}/protocol/`, `${sdk}/errors.ts`],
    packages: [],
  },
  // A service worker is one file of its own
  { files: `${sdk}/vite/worker/`, packages: [] },
  { files: `${sdk}/vite/` },
  { files: `${sdk}/testing/`, imports: [`${sdk}/`] },
  // client.ts builds every part; index.ts, worker.ts, node.ts and options.ts name what users see of it
  { files: `${sdk}/`, imports: [`${sdk}/`] },

  // the server: its kernel
  ...DB.map((files) => ({ files, imports: DB, types: RULES })),
  {
    files: `${kernel}/limits/`,
    imports: RULES,
  },
  ...["stream", "workers"].map((name) => ({ files: `${kernel}/${name}/`, imports: FLOWS })),
  { files: `${kernel}/`, imports: [...FLOWS.filter((files) => files !== `${kernel}/stream/`), ...DB] },
  // its edges: HTTP, sockets, and what both need
  ...["addresses", "envelope", "payload"].map((edge) => ({
    files: `${server}/edge/${edge}/`,
    imports: [...RULES, `${server}/edge/envelope/`, `${server}/ids.ts`],
  })),
  // Names the numbers that every part counts
  { files: `${server}/edge/metrics/register-metrics.ts`, imports: [`${server}/`] },
  { files: `${server}/edge/metrics/`, imports: [] },
  // Where we ask others
  { files: `${server}/edge/outbound/`, imports: [...RULES, `${kernel}/connection/`] },
  {
    files: `${server}/edge/`,
    imports: [...FLOWS, `${server}/edge/`],
    types: [`${server}/server-module.ts`],
  },
  // Runs Postgres as a child process; knows nothing of what is stored in it
  { files: `${server}/embedded-postgres/`, imports: [] },
  {
    files: `${server}/cli/`,
    // What it does beside asking the server, cli.ts hands to it.
    imports: [...RULES, `${server}/modules/webhooks/listen/`],
    types: [`${kernel}/`, `${server}/edge/outbound/`, `${server}/modules/`],
  },
  {
    // A receiver of webhooks on the developer's machine
    files: `${server}/modules/webhooks/listen/`,
    imports: [...RULES, `${server}/modules/webhooks/rules/`, `${server}/cli/usage-error.ts`],
    types: [`${server}/modules/webhooks/`],
  },
  // What waits, for tests only: it is in no build.
  { files: `${server}/testing/waiting/`, imports: [`${server}/`, "scripts/testing/"] },
  { files: `${server}/testing/`, imports: [`${server}/`] },
  // its modules
  ...modules.flatMap((name) => [
    {
      files: `${server}/modules/${name}/db/`,
      imports: DB,
      types: [...RULES, `${kernel}/tenant-data.ts`, `${server}/modules/${name}/`],
    },
    {
      files: `${server}/modules/${name}/`,
      imports: [`${kernel}/`, `${server}/edge/`, `${server}/ids.ts`],
      types: [`${server}/modules/module.ts`, `${server}/open/`, `${server}/server-options.ts`],
    },
  ]),
  // What a module is; the list of them, and those who open them, know each
  {
    files: `${server}/modules/module.ts`,
    imports: [],
    types: [`${kernel}/`, `${server}/edge/`, `${server}/open/`],
  },
  { files: `${server}/modules/`, imports: [`${server}/`] },
  // Opens the kernel and its edges
  {
    files: `${server}/open/`,
    imports: [`${kernel}/`, `${server}/edge/`, `${server}/modules/open-modules.ts`, `${server}/modules/own-module.ts`],
    types: [`${server}/modules/module.ts`, `${server}/server-options.ts`, `${server}/server-module.ts`],
  },
  // main.ts and server.ts know every part; config.ts and ids.ts stand beside them
  { files: `${server}/`, imports: [`${server}/`] },

  // on top
  {
    files: "packages/react/src/",
    packages: ["@holdfast/sdk", "@holdfast/sdk/draft", "@holdfast/sdk/bindings", "react"],
  },
  ...(
    [
      ["vue", "vue"],
      ["svelte", "svelte", "svelte/reactivity", "svelte/store"],
      ["solid", "solid-js"],
    ] as const
  ).map(([name, ...ofFramework]) => ({
    files: `packages/${name}/src/`,
    imports: [`packages/${name}/src/`],
    packages: ["@holdfast/sdk", "@holdfast/sdk/bindings", ...ofFramework],
  })),
  {
    files: "packages/tanstack-db/src/",
    imports: ["packages/tanstack-db/src/"],
    packages: ["@holdfast/sdk", "@tanstack/db"],
  },
  {
    files: "packages/expo/src/testing/",
    imports: ["packages/expo/src/"],
    packages: ["@holdfast/sdk/platform", "@holdfast/sdk/testing", "libsql"],
  },
  { files: "packages/expo/src/", imports: ["packages/expo/src/"], packages: ["@holdfast/sdk/platform"] },
  // Tools for models: a client is handed to them. Only its program, the words and files of which it reads, knows Node.
  { files: "packages/agent/src/", imports: ["packages/agent/src/"] },
  // Writes files, and knows no other package
  { files: "packages/create-holdfast/src/", imports: ["packages/create-holdfast/src/"] },
  { files: "apps/demo/src/", imports: ["apps/demo/src/"] },
  { files: "apps/demo/", imports: ["apps/demo/"] },

  // The conformance suite knows no package of ours, so that it can be taken elsewhere. Each folder imports only those
  // before it; its programs import all.
  ...["protocol", "assertions", "transport", "environment", "kit", "sections", "run"].map((folder, at, folders) => ({
    files: `${suite}/${folder}/`,
    imports: folders.slice(0, at).map((lower) => `${suite}/${lower}/`),
    packages: suitePackages,
  })),
  { files: `${suite}/`, packages: suitePackages },

  // Quality tools and end-to-end tests know everything; nothing knows them.
  { files: "qa/", imports: ["qa/", "e2e/", "packages/", "scripts/"] },
  { files: "e2e/", imports: ["e2e/", "qa/support/", "qa/conformance/", "packages/", "apps/", "scripts/", "site/"] },
  { files: "scripts/", imports: ["scripts/", "packages/"] },

  // The site of the pages knows only where they are.
  { files: "site/", imports: ["site/", "scripts/"] },
];

/** Packages that only these may import, wherever nothing narrower is said above. */
export const guardedPackages: { packages: RegExp; only: string[]; because: string }[] = [
  {
    packages: /^pg(-|$)/,
    only: [
      ...DB,
      ...modules.map((name) => `${server}/modules/${name}/db/`),
      `${server}/testing/`,
      "apps/demo/dev/run-sql.ts",
      ...quality,
    ],
    because: "all SQL lives in db",
  },
  {
    packages: /^(node:|ws$|fs$|path$)/,
    only: [
      `${sdk}/node`,
      // Runs while Vite builds
      `${sdk}/vite/offline-start.ts`,
      `${sdk}/testing/`,
      `${server}/`,
      ...["holdfast-mcp.ts", "mcp-args.ts", "choose-schema.ts", "agent-token.ts", "version.ts"].map(
        (name) => `packages/agent/src/${name}`,
      ),
      "apps/demo/",
      "packages/conformance/",
      "packages/create-holdfast/src/",
      ...quality,
    ],
    because: "the rest of the SDK and React run in browsers",
  },
  {
    packages: /^@holdfast\/sdk(\/(node|testing))?$/,
    only: ["packages/react/src/", "packages/agent/src/", "packages/expo/src/testing/", "apps/demo/", ...quality],
    because: "the server obeys the protocol and knows no client",
  },
  {
    packages: /^@opentelemetry\//,
    only: [`${server}/edge/metrics/prometheus.ts`],
    because: "code that counts must not know the output format",
  },
  {
    packages: /^@holdfast\/(react|vue|svelte|solid)$/,
    only: ["apps/demo/", ...quality],
    because: "bindings are on top",
  },
  {
    packages: /^@holdfast\/server/,
    only: ["apps/demo/", ...quality],
    because: "the server is reached over the network",
  },
];

/** Folders for tests: only they and tests import them. */
export const testFolders = /\/testing(\/|$)/;

/** Tests may look at anything; so may a config file. */
export const isTest = (file: string) => /\.(test|spec)\.tsx?$/.test(file) || /\.config\.ts$/.test(file);
