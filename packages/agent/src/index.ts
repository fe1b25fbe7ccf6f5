export type { Answer, Refusal, Success } from "./answer.ts";
export { createTools, type ToolKit, type ToolOptions } from "./create-tools.ts";
export type { AgentTool, ToolCall } from "./tool.ts";
