/** `'it''s'::text`, as Postgres writes a constant. A backslash stands for itself. */
const ITEM = String.raw`'(?:[^']|'')*'(?:::[a-z ]+(?:\(\d+\))?)?`;
const NAME = String.raw`(?:"(?:[^"]|"")+"|\w+)`;
const CHECK = new RegExp(
  String.raw`^CHECK \(\(\(?${NAME}\)?(?:::text)? = (?:ANY \(\(?ARRAY\[(${ITEM}(?:, ${ITEM})*)\]\)?(?:::text\[\])?\)|(${ITEM}))\)\)$`,
);

/**
 * The values that a check of one column allows, if it is a list of them: `check (state in ('new', 'old'))`. A check
 * that is not valid yet does not count: rows from before may have other values.
 */
export function checkValues(definition: string): readonly string[] | undefined {
  const [, several, single] = CHECK.exec(definition) ?? [];
  const items = several ?? single;
  return items === undefined ? undefined : [...new Set(stringsOf(items))];
}

/** The constants of a list: `'a'::text, 'b'::text` */
export const stringsOf = (items: string): string[] =>
  [...items.matchAll(/'((?:[^']|'')*)'/g)].map(([, text = ""]) => text.replaceAll("''", "'"));
