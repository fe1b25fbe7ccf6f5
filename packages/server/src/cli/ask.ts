import { createInterface } from "node:readline/promises";

/** A line that the person at the terminal types. */
export async function ask(question: string): Promise<string> {
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  return (await prompt.question(question).finally(() => prompt.close())).trim();
}

export const isYes = (answer: string): boolean => /^y(es)?$/i.test(answer);
