import { z } from "zod";
import { type Answer, refusalOf, refuse } from "./answer.ts";
import { type ToolContext, unreadable } from "./tool-context.ts";

/** A tool in the shape that the AI SDK expects: add it to `tools` as it is. */
export interface AgentTool<Input = unknown> {
  readonly description: string;
  /** A zod schema, which also implements Standard Schema. */
  readonly inputSchema: z.ZodType<Input>;
  /** Never rejects: an error is an answer with a stable `code`. */
  readonly execute: (input: Input, options?: ToolCall) => Promise<Answer>;
}

/** The needed part of the AI SDK's options for a call. */
export interface ToolCall {
  readonly abortSignal?: AbortSignal | undefined;
}

export function defineTool<Input>(
  context: ToolContext,
  description: string,
  inputSchema: z.ZodType<Input>,
  run: (input: Input, signal: AbortSignal | undefined) => Promise<Answer>,
): AgentTool<Input> {
  const answer = async (input: Input, signal: AbortSignal | undefined): Promise<Answer> => {
    const parsed = inputSchema.safeParse(input);
    if (!parsed.success) return refuse("invalid_input", z.prettifyError(parsed.error));
    try {
      return (await unreadable(context)) ?? (await run(parsed.data, signal));
    } catch (error) {
      return refusalOf(error);
    }
  };
  return {
    description,
    inputSchema,
    execute: async (input, { abortSignal } = {}) => {
      const answered = await answer(input, abortSignal);
      const earlier = context.late.splice(0).map((tell) => tell());
      return earlier.length > 0 ? { ...answered, earlier } : answered;
    },
  };
}

/** The inputs that several tools share. */
export const inputs = (context: ToolContext) => ({
  model: z.enum(Object.keys(context.schema.models)).describe("The kind of record."),
  id: z.string().min(1).max(255).describe("The record's id."),
});
