import { addresses, resolveLink } from "./pages.ts";

/** Fences, code in a line, and links with the text and the target. Images are links too. */
const codeOrLink = /^( *`{3,}).*?^\1$|`[^`\n]*`|!?\[((?:`[^`\n]*`|[^[\]`])*)\]\(([^)\s]+)\)/gms;

/**
 * A page with its links as the site has them. A link to a page gets the target that `toPage` gives it. A link to a file that
 * is no page becomes the path of that file: the site has no copy of the sources, and does not know where they are hosted.
 */
export const withSiteLinks = (file: string, text: string, toPage: (address: string) => string): string =>
  text.replaceAll(codeOrLink, (whole: string, _fence?: string, name?: string, link?: string) => {
    if (name === undefined || link === undefined || whole.startsWith("!") || /^(\w+:|#)/.test(link)) return whole;
    const { page, path } = resolveLink(file, link);
    if (page === undefined) return withoutLink(name, path);
    const [, heading] = link.split("#");
    return `[${name}](${toPage(addresses.get(page) ?? "")}${heading === undefined ? "" : `#${heading}`})`;
  });

/** `[a.test.ts](../sdk/a.test.ts)` → `sdk/a.test.ts`, and `[the test](../sdk/a.test.ts)` → the test (`sdk/a.test.ts`). */
function withoutLink(name: string, path: string): string {
  const plain = name.replaceAll("`", "").replace(/\/$/, "");
  return path.endsWith(plain) ? `\`${path}\`` : `${name} (\`${path}\`)`;
}

/** As GitHub makes them, for which the links to headings are written. */
export const headingAnchor = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");
