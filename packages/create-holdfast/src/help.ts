import { DEFAULT_FOLDER, DEFAULT_TEMPLATE } from "./options.ts";
import { templateLines } from "./templates.ts";

export const help = `Usage: npm create holdfast [folder] [-- options]

Writes an app that runs: npm install, then npm run dev. The folder must be new or empty (default: ${DEFAULT_FOLDER}).

  --template <name>   what to start from (default: ${DEFAULT_TEMPLATE}):
${templateLines()
  .map((line) => `                        ${line}\n`)
  .join("")}  --install           install its packages too
  --yes               do not ask: take the defaults, as without a terminal
  --version           print the version, which is also that of the packages of Holdfast
  --help              print this

npm takes options for itself unless they come after "--". So these are the same:
  npm create holdfast my-app -- --template next
  npm create holdfast my-app next
`;
