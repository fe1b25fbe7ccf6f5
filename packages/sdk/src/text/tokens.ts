/**
 * A word; a character of a script without spaces between words; a line break; other whitespace; or any other character
 * with what belongs to it (marks, skin tones, joined emoji, the second half of a flag).
 */
const TOKEN =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]\p{M}*|(?:(?![\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}])[\p{L}\p{N}_]\p{M}*)+|\r?\n|[^\S\n]+?(?=\r?\n|\S|$)|\p{RI}\p{RI}|.(?:\p{M}|\p{EMod}|\u200d.)*/gsu;

/** Cuts a text into words, whitespace and other characters. Joined, they are the text again. */
export const tokensOf = (text: string): readonly string[] => text.match(TOKEN) ?? [];
