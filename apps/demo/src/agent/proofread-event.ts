/** What the proofreader reports while it works: one line of JSON each. */
export type ProofreadEvent =
  /** It looks at this slide now. */
  | { readonly type: "at"; readonly slide: string }
  | { readonly type: "changed"; readonly slide: string; readonly fields: readonly FieldChange[] }
  /** A person took the slide over, or edited it for too long. */
  | { readonly type: "left"; readonly slide: string }
  | { readonly type: "done" };

export interface FieldChange {
  readonly field: "title" | "notes";
  readonly before: string;
  readonly after: string;
}
