/** A piece of code in a page: its language, the words behind it, its text. */
export interface Fence {
  readonly language: string;
  readonly words: readonly string[];
  readonly text: string;
}

export const fencesOf = (page: string): Fence[] =>
  [...page.matchAll(/^```(\w+)([^\n]*)\n(.*?)^```$/gms)].map(([, language = "", words = "", text = ""]) => ({
    language,
    words: words.split(" ").filter(Boolean),
    text,
  }));

/** Files that a page gives whole: the first line of each is a comment with its name. */
export const filesOf = (page: string): Map<string, string> =>
  new Map(
    fencesOf(page).flatMap(({ text }) => {
      const [, name] = /^(?:\/\/|<!--) ([\w.-]+\.\w+)\b/.exec(text) ?? [];
      return name === undefined ? [] : [[name, text]];
    }),
  );

/** What else is `ts` in a page, from top to bottom: together one program. `check` sets a piece apart, which is only compiled. */
export function programOf(page: string): { readonly program: string; readonly apart: string[] } {
  const files = [...filesOf(page).values()];
  const pieces = fencesOf(page).filter(({ language, text }) => /^tsx?$/.test(language) && !files.includes(text));
  const isApart = ({ words }: Fence) => words.includes("check");
  return {
    program: pieces
      .filter((piece) => !isApart(piece))
      .map(({ text }) => text)
      .join("\n"),
    apart: pieces.filter(isApart).map(({ text }) => text),
  };
}

/** What a program says that it prints: `console.log(…); // prints …`, a line for each. */
export const printed = (program: string): string =>
  [...program.matchAll(/(?:^| )\/\/ prints (.*)$/gm)].map(([, line]) => `${line}\n`).join("");
