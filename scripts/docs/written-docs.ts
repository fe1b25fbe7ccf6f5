import { messagesText } from "../messages/all-messages.ts";
import { behaviourPage, readRuleFiles } from "./behaviour-page.ts";
import { docstringsModule } from "./docstrings-module.ts";
import { errorsMarkdown } from "./errors-markdown.ts";

/** The generated files: file → text. */
export const writtenDocs = (): Readonly<Record<string, string>> => ({
  "api/messages.txt": messagesText(),
  "BEHAVIOR.md": behaviourPage(readRuleFiles()),
  "docs/errors.md": errorsMarkdown(),
  "packages/server/src/edge/http/docs/docstrings.ts": docstringsModule(),
});
