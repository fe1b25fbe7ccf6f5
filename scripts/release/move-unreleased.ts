/** The changelog of the repository, and those of the packages by their short names: `sdk`, `server` … */
export interface Changelogs {
  readonly repository: string;
  readonly packages: Readonly<Record<string, string>>;
}

/**
 * Makes a release of what stands under “Unreleased” in the repository's changelog. Each entry begins with the packages
 * that it changes, and is copied into their changelogs: `- **sdk, react:** Lists …`. All packages get the version.
 * Throws where an entry names no package, or where there is none.
 */
export function moveUnreleased({ repository, packages }: Changelogs, version: string): Changelogs {
  const entries = unreleasedEntries(repository, Object.keys(packages));
  if (entries.length === 0) throw new Error('CHANGELOG.md has no entry under "Unreleased".');
  const bodyOf = (name: string) => {
    const own = entries.filter(({ names }) => names.includes(name)).map(({ text }) => `- ${text}`);
    return own.length > 0 ? own.join("\n") : "Nothing changes in this package. All packages share one version.";
  };
  return {
    repository: repository.replace(UNRELEASED, `## Unreleased\n\n## ${version}\n`),
    packages: Object.fromEntries(
      Object.entries(packages).map(([name, text]) => [
        name,
        text.replace(/^# Changelog\n/, `# Changelog\n\n## ${version}\n\n${bodyOf(name)}\n`),
      ]),
    ),
  };
}

interface Entry {
  readonly names: readonly string[];
  readonly text: string;
}

/** The entries that wait for a release. */
export function unreleasedEntries(repository: string, packages: readonly string[]): Entry[] {
  const start = repository.search(UNRELEASED);
  if (start < 0) throw new Error('CHANGELOG.md has no heading "## Unreleased".');
  const section = repository.slice(start).replace(UNRELEASED, "");
  const end = section.search(/^## /m);
  const lines = (end < 0 ? section : section.slice(0, end)).split("\n").filter((line) => line.trim() !== "");
  return lines.map((line) => {
    const [, list = "", text = ""] = /^- \*\*([a-z, -]+):\*\* (\S.*)$/.exec(line) ?? [];
    const names = list.split(", ");
    if (text === "" || !names.every((name) => packages.includes(name)))
      throw new Error(`An entry begins with its packages (${packages.join(", ")}), as "- **sdk:** …", not: ${line}`);
    return { names, text };
  });
}

const UNRELEASED = /^## Unreleased\n/m;

/** Whether one version comes after another. Only `1.2.3` is a version here. */
export function isLater(version: string, before: string): boolean {
  const [next, last] = [numbersOf(version), numbersOf(before)];
  const at = next.findIndex((number, index) => number !== last[index]);
  return at >= 0 && (next[at] ?? 0) > (last[at] ?? 0);
}

function numbersOf(version: string): number[] {
  const [, ...numbers] = /^(\d+)\.(\d+)\.(\d+)$/.exec(version) ?? [];
  if (numbers.length === 0) throw new Error(`A version is three numbers, as 0.2.0, not "${version}".`);
  return numbers.map(Number);
}
