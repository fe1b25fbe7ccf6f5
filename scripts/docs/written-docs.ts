import { errorsMarkdown } from "./errors-markdown.ts";

/** The pages of docs/ that nobody writes by hand: file → text. */
export const writtenDocs = (): Readonly<Record<string, string>> => ({ "docs/errors.md": errorsMarkdown() });
