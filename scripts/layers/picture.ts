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
export const quality = ["qa/", "e2e/", "scripts/"];

/** Subjects beside the server's kernel. The kernel imports none of them, and none imports another. */
const modules = ["claims", "databases", "presence", "sources", "tables", "webhooks"];

/** The folders of the server but `modules/`. */
const KERNEL = [
  ...["addresses", "db", "embedded-postgres", "envelope", "flows", "http", "limits", "metrics", "outbound", "parts"],
  ...["payload", "realtime", "rules", "workers"],
].map((folder) => `${server}/${folder}/`);

/** What a module may use of the kernel. */
const MODULE_IMPORTS = [
  ...KERNEL.filter((folder) => !folder.includes("/parts/")),
  `${server}/parts/part.ts`,
  `${server}/ids.ts`,
];

export const picture: Layer[] = [
  // words and decisions
  { files: `${sdk}/protocol/`, packages: ["typebox"], pure: true },
  { files: `${sdk}/core/`, imports: [`${sdk}/protocol/`], packages: [], pure: true },
  { files: `${server}/rules/`, packages: [words], pure: true },
  // The same layers inside a module
  ...["claims", "databases", "sources", "tables", "webhooks"].map((name) => ({
    files: `${server}/modules/${name}/rules/`,
    imports: [`${server}/rules/`],
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
  // A service worker is one file of its own
  { files: `${sdk}/vite/worker/`, packages: [] },
  { files: `${sdk}/vite/` },
  { files: `${sdk}/testing/`, imports: [`${sdk}/`] },
  // client.ts builds every part; index.ts, worker.ts, node.ts and options.ts name what users see of it
  { files: `${sdk}/`, imports: [`${sdk}/`] },

  // the server
  {
    files: `${server}/db/`,
    // Databases of tenants are reached like their webhooks.
    imports: [`${server}/outbound/public-address.ts`, `${server}/outbound/public-lookup.ts`],
    types: [`${server}/rules/`],
  },
  {
    files: `${server}/flows/`,
    imports: [`${server}/rules/`, `${server}/db/`, `${server}/limits/`, `${server}/ids.ts`],
  },
  // Runs Postgres as a child process; knows nothing of what is stored in it
  { files: `${server}/embedded-postgres/`, imports: [] },
  // What http and realtime both need: who asks and where, how bodies are read, how errors are written, how much is allowed
  { files: `${server}/limits/`, imports: [`${server}/rules/`] },
  ...["addresses", "envelope", "payload"].map((subject) => ({
    files: `${server}/${subject}/`,
    imports: [`${server}/rules/`, `${server}/envelope/`, `${server}/ids.ts`],
  })),
  // Names the numbers that every part counts
  { files: `${server}/metrics/register-metrics.ts`, imports: [`${server}/`] },
  { files: `${server}/metrics/`, imports: [] },
  // Where we ask others
  { files: `${server}/outbound/`, imports: [`${server}/rules/`] },
  ...["http", "realtime", "workers"].map((edge) => ({
    files: `${server}/${edge}/`,
    imports: [
      ...["flows", "rules", "limits", "addresses", "envelope", "payload", "metrics"].map(
        (name) => `${server}/${name}/`,
      ),
      `${server}/ids.ts`,
    ],
    types: [`${server}/server-module.ts`],
  })),
  {
    files: `${server}/cli/`,
    // What it does beside asking the server, cli.ts hands to it.
    imports: [`${server}/rules/`, `${server}/modules/webhooks/listen/`],
    types: [`${server}/flows/`, `${server}/outbound/`, `${server}/modules/`],
  },
  {
    // A receiver of webhooks on the developer's machine
    files: `${server}/modules/webhooks/listen/`,
    imports: [`${server}/rules/`, `${server}/modules/webhooks/rules/`, `${server}/cli/usage-error.ts`],
    types: [`${server}/modules/webhooks/`],
  },
  // What waits, for tests only: it is in no build.
  { files: `${server}/testing/waiting/`, imports: [`${server}/`, "scripts/testing/"] },
  { files: `${server}/testing/`, imports: [`${server}/`] },
  ...modules.flatMap((name) => [
    {
      files: `${server}/modules/${name}/db/`,
      imports: [`${server}/db/`],
      types: [`${server}/rules/`, `${server}/flows/tenant-data.ts`, `${server}/modules/${name}/`],
    },
    {
      files: `${server}/modules/${name}/`,
      imports: MODULE_IMPORTS,
      types: [`${server}/parts/`, `${server}/server-options.ts`],
    },
  ]),
  // The list of them, and main.ts and server.ts with parts/, know every part; config.ts and ids.ts stand beside them
  ...["modules/list.ts", "parts/modules.ts"].map((file) => ({ files: `${server}/${file}`, imports: [`${server}/`] })),
  {
    files: `${server}/parts/`,
    imports: [...KERNEL, `${server}/parts/`],
    types: [`${server}/server-options.ts`, `${server}/server-module.ts`],
  },
  { files: `${server}/`, imports: [`${server}/`] },

  // on top
  { files: "packages/react/src/", packages: ["@holdfast/sdk", "@holdfast/sdk/draft", "react"] },
  {
    files: "packages/tanstack-db/src/",
    imports: ["packages/tanstack-db/src/"],
    packages: ["@holdfast/sdk", "@tanstack/db"],
  },
  // Tools for models: a client is handed to them. Only its program, the words and files of which it reads, knows Node.
  { files: "packages/agent/src/", imports: ["packages/agent/src/"] },
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
  { files: "e2e/", imports: ["e2e/", "qa/support/", "qa/conformance/", "packages/", "apps/", "scripts/"] },
  { files: "scripts/", imports: ["scripts/", "packages/"] },
];

/** Packages that only these may import, wherever nothing narrower is said above. */
export const guardedPackages: { packages: RegExp; only: string[]; because: string }[] = [
  {
    packages: /^pg(-|$)/,
    only: [
      `${server}/db/`,
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
      ...quality,
    ],
    because: "the rest of the SDK and React run in browsers",
  },
  {
    packages: /^@holdfast\/sdk(\/(node|testing))?$/,
    only: ["packages/react/src/", "packages/agent/src/", "apps/demo/", ...quality],
    because: "the server obeys the protocol and knows no client",
  },
  {
    packages: /^@opentelemetry\//,
    only: [`${server}/metrics/prometheus.ts`],
    because: "code that counts must not know the output format",
  },
  { packages: /^@holdfast\/react$/, only: ["apps/demo/", ...quality], because: "React is on top" },
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
