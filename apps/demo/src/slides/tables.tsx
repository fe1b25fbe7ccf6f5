import type { TextBlock } from "./table-text.ts";

/** A text with its tables drawn. It lies over the field with the text, which is edited by clicking into it. */
export function Tables({ blocks }: { blocks: readonly TextBlock[] }) {
  return (
    <div className="tables">
      {blocks.map((block, at) => {
        // biome-ignore lint/suspicious/noArrayIndexKey: a block is nothing but its place
        if (block.type === "text") return <p key={at}>{block.text}</p>;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: as above
          <table key={at}>
            <thead>
              <Row Cell="th" cells={block.header} />
            </thead>
            <tbody>
              {block.rows.map((cells, row) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: as above
                <Row key={row} Cell="td" cells={cells} />
              ))}
            </tbody>
          </table>
        );
      })}
    </div>
  );
}

function Row({ Cell, cells }: { Cell: "th" | "td"; cells: readonly string[] }) {
  return (
    <tr>
      {cells.map((text, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a cell is nothing but its place
        <Cell key={at}>{text}</Cell>
      ))}
    </tr>
  );
}
