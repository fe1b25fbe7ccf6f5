export interface Rule {
  readonly id: string;
  /** The letters of the heading above it. */
  readonly section: string;
  /** Of its text, in code points. */
  readonly length: number;
}

/** The rules in a RULES.md. */
export function rulesIn(text: string): Rule[] {
  let section = "";
  return text.split("\n").flatMap((line) => {
    section = /^# .*\[([A-Z]+)\]$/.exec(line)?.[1] ?? section;
    const [, id, says = ""] = /^- \*\*\[([A-Z]+\d+[a-z]?)\]\*\* (.*)$/.exec(line) ?? [];
    return id === undefined ? [] : [{ id, section, length: [...says].length }];
  });
}
