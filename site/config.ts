import { join, relative, sep } from "node:path";
import type { DefaultTheme, HeadConfig, UserConfig } from "vitepress";
import { root } from "../scripts/root.mjs";
import { descriptionOf } from "./descriptions.ts";
import { headingAnchor, withSiteLinks } from "./links.ts";
import { sidebar } from "./navigation.ts";
import { addresses, otherMarkdown } from "./pages.ts";
import { renderForSearch, searchOptions } from "./search.ts";
import { writeTexts } from "./texts.ts";

/** The pages stay where they are, and the site reads them there. */
export const config: UserConfig<DefaultTheme.Config> = {
  title: "Holdfast",
  lang: "en",
  srcDir: root,
  srcExclude: otherMarkdown(),
  rewrites: Object.fromEntries(addresses),
  cacheDir: join(root, "node_modules/.cache/site"),
  head: [["link", { rel: "icon", href: "data:," }]],
  metaChunk: true,
  markdown: {
    // Addresses in a sentence are examples, and lead nowhere.
    linkify: false,
    languageAlias: { caddyfile: "nginx" },
    // Both pass WCAG's contrast on the grey of a code block.
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    anchor: { slugify: headingAnchor },
    config(markdown) {
      markdown.core.ruler.before("normalize", "site_links", (state) => {
        const { realPath, path } = state.env as { realPath?: string; path: string };
        const file = relative(root, realPath ?? path)
          .split(sep)
          .join("/");
        state.src = withSiteLinks(file, state.src, (address) => `/${address}`);
      });
    },
  },
  themeConfig: {
    sidebar: sidebar(),
    outline: [2, 3],
    search: { provider: "local", options: { miniSearch: { searchOptions }, _render: renderForSearch } },
  },
  // The search index has 700 kB, and is loaded when a reader searches.
  vite: { build: { chunkSizeWarningLimit: 1_000 } },
  transformPageData: ({ filePath }) => ({ description: descriptionOf(filePath) }),
  transformHead: ({ page, siteData }): HeadConfig[] => [
    ["link", { rel: "alternate", type: "text/markdown", href: `${siteData.base}${page}` }],
  ],
  buildEnd: ({ outDir }) => writeTexts(outDir),
};
