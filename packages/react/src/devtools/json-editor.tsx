import { type ReactElement, useId, useState } from "react";

/** Edits and sends JSON. If it cannot be sent, it shows the error and keeps the text. */
export function JsonEditor(props: {
  label: string;
  value: unknown;
  action: string;
  send(value: unknown): void;
}): ReactElement {
  const [text, setText] = useState(() => JSON.stringify(props.value, null, 2));
  const [error, setError] = useState("");
  const name = useId();
  const send = () => {
    try {
      props.send(JSON.parse(text));
    } catch (reason) {
      // Invalid JSON, or data that does not match the schema.
      setError(reason instanceof Error ? reason.message : String(reason));
    }
  };
  return (
    <>
      <label htmlFor={name}>{props.label}</label>
      <textarea id={name} value={text} spellCheck={false} onChange={(event) => setText(event.target.value)} />
      {error && (
        <p role="alert" className="hd-error">
          {error}
        </p>
      )}
      <button type="button" onClick={send}>
        {props.action}
      </button>
    </>
  );
}
