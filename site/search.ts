import { relative, sep } from "node:path";
import type { SearchOptions } from "minisearch";
import type { DefaultTheme } from "vitepress";
import { root } from "../scripts/root.mjs";
import { descriptionOf } from "./descriptions.ts";
import { taskOf } from "./navigation.ts";

/**
 * How a page is found. The browser and the tests search with the same options. The browser gets the functions as text, so
 * they use nothing from outside.
 */
export const searchOptions: SearchOptions = {
  prefix: (term) => term.length > 2,
  fuzzy: (term) => (term.length > 4 ? 0.2 : false),
  weights: { prefix: 0.4, fuzzy: 0.1 },
  boost: { title: 2, titles: 1.5, text: 1 },
  // A word in every sentence says nothing of the page.
  processTerm: (term) =>
    /^(an?|and|are|as|at|be|by|can|do|does|for|from|how|i|if|in|is|it|my|of|on|or|that|the|to|what|when|where|which|with|without)$/i.test(
      term,
    )
      ? null
      : term.toLowerCase(),
  // Guides come before the list of errors, and both before the index of the pages, and what those need who look inside.
  boostDocument: (id) => {
    if (
      /\/((behavior|architecture|changelog|glossary|figures|benchmarks|releasing|decisions\/.*|qa\/.*)\.html)?(#|$)/.test(
        id,
      )
    )
      return 0.3;
    return /\/errors\.html/.test(id) ? 0.6 : 1;
  },
};

/**
 * A page as the index reads it: without colors in code, which would take most of the time, and with what the index of the
 * pages and llms.txt say of it below its title.
 */
export const renderForSearch: NonNullable<DefaultTheme.LocalSearchOptions["_render"]> = (text, env, markdown) => {
  const file = relative(root, env.path).split(sep).join("/");
  const { highlight } = markdown.options;
  markdown.options.highlight = null;
  try {
    const summary = `<p>${markdown.utils.escapeHtml(`${taskOf(file)}. ${descriptionOf(file)}`)}</p>`;
    return markdown.render(text, env).replace("</h1>", `</h1>${summary}`);
  } finally {
    markdown.options.highlight = highlight;
  }
};
