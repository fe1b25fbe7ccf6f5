export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly description?: string;
  readonly repository?: unknown;
  readonly publishConfig?: { readonly access?: string; readonly provenance?: boolean };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** Why a packed package must not be published as it is. */
export function judgeManifest(manifest: Manifest, version: string, files: readonly string[]): string[] {
  const { name, dependencies, peerDependencies, publishConfig } = manifest;
  const ranges = Object.entries({ ...dependencies, ...peerDependencies });
  return [
    ...(manifest.version === version ? [] : [`has the version ${manifest.version}, and the release is ${version}`]),
    ...(manifest.license ? [] : ["has no licence"]),
    ...(manifest.description ? [] : ["has no description"]),
    ...(publishConfig?.access === "public" ? [] : ['has no "publishConfig": { "access": "public" }']),
    ...(publishConfig?.provenance === true ? [] : ['has no "publishConfig": { "provenance": true }']),
    ...ranges
      .filter(([, range]) => /^(workspace|link|file):/.test(range))
      .map(([of, range]) => `depends on ${of} as ${range}: pack it with pnpm`),
    ...["README.md", "LICENSE", "CHANGELOG.md"].filter((file) => !files.includes(file)).map((file) => `lacks ${file}`),
  ].map((problem) => `${name} ${problem}.`);
}
