/** Something that the person at the terminal can mend: said in a sentence, without a stack. */
export class UsageError extends Error {}
