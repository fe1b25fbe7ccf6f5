import { parseArgs } from "node:util";
import { CreateError } from "./create-error.ts";
import { isTemplate, type Template, templateNames } from "./templates.ts";

export const DEFAULT_FOLDER = "holdfast-app";
export const DEFAULT_TEMPLATE: Template = "react";

/** Undefined: not said. */
export interface CreateOptions {
  readonly kind: "create";
  readonly folder: string | undefined;
  readonly template: Template | undefined;
  readonly yes: boolean;
  readonly install: boolean;
}

export type Options = CreateOptions | { readonly kind: "help" } | { readonly kind: "version" };

/**
 * Without a `--` before them, npm takes options for itself. `--template=next` is then `npm_config_template=next`;
 * `--template next` is `npm_config_template=true`, and `next` is an argument. Both are understood.
 */
export function readOptions(args: readonly string[], env: NodeJS.ProcessEnv): Options {
  const { values, positionals } = parse(args);
  if (values.help) return { kind: "help" };
  if (values.version) return { kind: "version" };
  const taken = env.npm_config_template;
  const words = [...positionals];
  const last = words.at(-1);
  // One word alone is the folder, unless npm has cut the option off before it.
  const isLastTemplate = isTemplate(last) && (words.length > 1 || taken === "true");
  if (isLastTemplate) words.pop();
  if (words.length > 1)
    throw new CreateError(
      `"${words[1]}" is one argument too many: name one folder${isTemplate(last) ? "" : `, and one of the templates ${templateNames.join(", ")}`}. See --help.`,
    );
  const named = values.template ?? (isLastTemplate ? last : taken === "true" ? undefined : taken);
  if (named !== undefined && !isTemplate(named))
    throw new CreateError(`There is no template "${named}". The templates are ${templateNames.join(", ")}.`);
  return {
    kind: "create",
    folder: words[0] || undefined,
    template: named,
    yes: values.yes ?? env.npm_config_yes === "true",
    install: values.install ?? env.npm_config_install === "true",
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        template: { type: "string", short: "t" },
        yes: { type: "boolean", short: "y" },
        install: { type: "boolean" },
        help: { type: "boolean", short: "h" },
        version: { type: "boolean", short: "v" },
      },
    });
  } catch (error) {
    // Its first sentence names the option; the rest is about programming.
    throw new CreateError(`${(error as Error).message.split(". ")[0]}. See --help.`);
  }
}
