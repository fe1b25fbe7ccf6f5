import { createHash } from "node:crypto";
import { type Block, readMarkdown, type Section } from "./read-markdown.ts";

/** Everything an import will write, worked out before the first write. */
export interface ImportPlan {
  readonly document: {
    readonly id: string;
    readonly title: string;
    readonly content: string;
    readonly metadata: string;
  };
  readonly jobId: string;
  readonly passages: readonly Passage[];
}

/** One passage of the text; the first of a section brings the section's slide with it. */
export interface Passage {
  readonly id: string;
  readonly index: number;
  readonly sectionName: string;
  readonly content: string;
  readonly tokenCount: number;
  readonly contextPrefix: string;
  readonly tableData: NonNullable<Block["table"]> | null;
  readonly slide:
    | { readonly id: string; readonly title: string; readonly order: number; readonly notes: string }
    | undefined;
}

/**
 * Ids follow from the file's content: the same file imported again is the same records, so it changes nothing, and an
 * import that was cut off goes on where it stopped. Another `copy` of it is a deck of its own.
 */
export function planImport(fileName: string, content: string, copy = 1): ImportPlan {
  const hash = createHash("sha256").update(content).digest("hex");
  const documentId = `doc_${hash.slice(0, 20)}${copy > 1 ? `_${copy}` : ""}`;
  const { title, sections } = readMarkdown(content, fileName.replace(/\.[^.]*$/, ""));
  const passages: Passage[] = [];
  sections.forEach((section, at) => {
    const slide = { id: `${documentId}_s${at + 1}`, title: section.name, order: at + 1, notes: notesOf(section) };
    cutIntoPassages(section.blocks).forEach((block, inSection) => {
      passages.push({
        id: `${documentId}_c${passages.length}`,
        index: passages.length,
        sectionName: section.name,
        content: block.text,
        tokenCount: estimateTokens(block.text),
        contextPrefix: section.name === title ? title : `${title} › ${section.name}`,
        tableData: block.table ?? null,
        slide: inSection === 0 ? slide : undefined,
      });
    });
  });
  return {
    document: {
      id: documentId,
      title: copy > 1 ? `${title} (${copy})` : title,
      content,
      metadata: JSON.stringify({ fileName, sha256: hash }),
    },
    jobId: `${documentId}_job`,
    passages,
  };
}

const notesOf = (section: Section) =>
  section.blocks.map((block) => (block.table ? markdownOf(block.table) : block.text)).join("\n\n");

/** Tables stay tables, which the slide shows as such. */
function markdownOf({ header, rows }: NonNullable<Block["table"]>): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replace(/\s*\n\s*/g, " ").replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(header), line(header.map(() => "---")), ...rows.map(line)].join("\n");
}

/** A rough count, good enough to see that a passage fits a model: about four characters are a token. */
const estimateTokens = (text: string) => Math.ceil(text.length / 4);

const PASSAGE_LENGTH = 300;

/** Whole blocks, as many as fit; a long one is cut at its sentences; a table stays by itself. */
function cutIntoPassages(blocks: readonly Block[]): readonly Block[] {
  const passages: Block[] = [];
  let open = "";
  const close = () => {
    if (open) passages.push({ text: open });
    open = "";
  };
  for (const block of blocks) {
    if (block.table) {
      close();
      passages.push(block);
      continue;
    }
    for (const part of block.text.length > PASSAGE_LENGTH ? sentences(block.text) : [block.text]) {
      if (open && open.length + part.length > PASSAGE_LENGTH) close();
      open = open ? `${open}\n\n${part}` : part;
    }
  }
  close();
  // A heading without text still is a slide, and a slide comes with a passage.
  return passages.length > 0 ? passages : [{ text: "" }];
}

const bySentence = new Intl.Segmenter("en", { granularity: "sentence" });

function sentences(text: string): string[] {
  const parts: string[] = [];
  for (const { segment } of bySentence.segment(text)) {
    const last = parts.at(-1);
    if (last !== undefined && last.length + segment.length <= PASSAGE_LENGTH) parts[parts.length - 1] = last + segment;
    else parts.push(segment);
  }
  return parts.map((part) => part.trim()).filter(Boolean);
}
