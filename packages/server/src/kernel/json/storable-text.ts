/** Text as Postgres can keep it in a field of JSON: NUL and halves of characters become U+FFFD. */
export const storableText = (text: string): string => text.replaceAll("\0", "\ufffd").toWellFormed();
