import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import MiniSearch from "minisearch";
import { searchOptions } from "./search.ts";

/** The search of a built site, from the file and with the options that the browser loads. Finds addresses, best first. */
export async function openSearchIndex(folder: string): Promise<(words: string) => string[]> {
  const chunks = join(folder, "assets/chunks");
  const file = readdirSync(chunks).find((name) => name.startsWith("@localSearchIndex"));
  if (file === undefined) throw new Error(`There is no search index in ${chunks}.`);
  const program = readFileSync(join(chunks, file), "utf8");
  const { default: json } = (await import(`data:text/javascript,${encodeURIComponent(program)}`)) as {
    default: string;
  };
  // The fields are VitePress's own.
  const index = MiniSearch.loadJSON(json, { fields: ["title", "titles", "text"], searchOptions });
  return (words) => index.search(words).map(({ id }) => String(id));
}
