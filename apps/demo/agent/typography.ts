/** What a typesetter would mend: quotes, dashes, dots, and spaces too many. Text that is fine comes back as it is. */
export const polish = (text: string): string =>
  text
    .replace(/(^|[\s([{–—])"/g, "$1“")
    .replace(/"/g, "”")
    .replace(/(^|[\s([{–—“])'/g, "$1‘")
    .replace(/'/g, "’")
    .replace(/ -{1,2} /g, " – ")
    .replace(/\.{3}/g, "…")
    .replace(/[ \t]+$/gm, "")
    .replace(/(\S) {2,}/g, "$1 ");
