/** Longer than this is a paragraph, which belongs on a page. */
const LONGEST = 360;

/** What makes a message hard to read, and the sentence that says so. */
const FAULTS: readonly (readonly [RegExp, string])[] = [
  [/^(None|What|Of which|Which|Whatever)\b/, "begins with a word that stands for another"],
  [/\b(please|oops|sorry|invalid input|something went wrong)\b/i, "says nothing that helps"],
  [/(?<!^)\bnone\b/i, 'says "none": name the noun'],
  [/(?<!\bthere )\b(is|are) no (?!longer\b)/i, 'says "is no": write "is not a", or what is missing'],
  [/\b(the|that|this) ones?\b/i, 'says "one" in place of a noun'],
  [/\b(is|are) away\b|\bon (its|their) way\b|\bmend(s|ed)?\b|\banew\b/i, "has words that are not in the vocabulary"],
  [/^Their\b|\bin these\b|\bof these \w+\.$|\bthere\.$/, "refers to another message"],
  [/\bmust be (a )?text(?! (column|or)\b|,)/, 'calls a string "text"'],
];

/** Why a message is not one that people read easily. */
export const judgeMessage = (text: string): string[] => [
  ...FAULTS.filter(([pattern]) => pattern.test(text)).map(([, fault]) => fault),
  ...(text.length > LONGEST ? [`has ${text.length} characters (up to ${LONGEST})`] : []),
];
