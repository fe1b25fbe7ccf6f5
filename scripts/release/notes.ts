/** What a changelog says of a version, as the text of its release. Throws if it says nothing. */
export function notesOf(changelog: string, version: string): string {
  const [, section] = changelog.split(new RegExp(`^## ${version.replaceAll(".", "\\.")}$`, "m"));
  const text = section?.split(/^## /m)[0]?.trim();
  if (!text) throw new Error(`CHANGELOG.md has no entry for ${version}: npm run version:set -- ${version}`);
  return `${text}\n`;
}
