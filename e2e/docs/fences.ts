/** A code fence of a page: its language, the words after it, and its text. */
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

/** The complete files of a page: the first line of each is a comment with its name. */
export const filesOf = (page: string): Map<string, string> =>
  new Map(
    fencesOf(page).flatMap(({ text }) => {
      const [, name] = /^(?:\/\/|<!--) ([\w.-]+\.\w+)\b/.exec(text) ?? [];
      return name === undefined ? [] : [[name, text]];
    }),
  );

/** The other `ts` fences of a page, which form one program. A fence with `check` is separate, and only compiled. */
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

/** The documented output of a program: one line per `console.log(…); // prints …`. */
export const printed = (program: string): string =>
  [...program.matchAll(/(?:^| )\/\/ prints (.*)$/gm)].map(([, line]) => `${line}\n`).join("");
