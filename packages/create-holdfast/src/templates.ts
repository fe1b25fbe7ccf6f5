/** What each template is. Its files are in the folder of this name below `templates/`. */
export const templates = {
  react: "a list that people edit together, online and offline: React and Vite",
  next: "a page that a server renders with its data: Next.js",
  "node-agent": "a program that follows the records and edits them like a person",
  "existing-postgres": "a live list from tables that you have in Postgres",
} as const;

export type Template = keyof typeof templates;

export const templateNames = Object.keys(templates) as Template[];

export const isTemplate = (name: string | undefined): name is Template =>
  name !== undefined && Object.hasOwn(templates, name);

/** One line for each template: its name and what it is. */
export const templateLines = (): string[] =>
  templateNames.map(
    (name) => `${name.padEnd(Math.max(...templateNames.map(({ length }) => length)) + 2)}${templates[name]}`,
  );
