import { docstringsModule } from "./docstrings-module.ts";
import { errorsMarkdown } from "./errors-markdown.ts";

/** The generated files: file → text. */
export const writtenDocs = (): Readonly<Record<string, string>> => ({
  "docs/errors.md": errorsMarkdown(),
  "packages/server/src/http/docs/docstrings.ts": docstringsModule(),
});
