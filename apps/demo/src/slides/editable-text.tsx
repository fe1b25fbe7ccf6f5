import { type KeyboardEvent, type Ref, useMemo } from "react";
import { afterPaint, doWhatIsDue } from "./after-paint.ts";
import { tableText } from "./table-text.ts";
import { Tables } from "./tables.tsx";
import { useDraft } from "./use-draft.ts";

interface Props {
  readonly label: string;
  readonly value: string;
  readonly placeholder: string;
  readonly className: string;
  /** Enter saves instead of beginning a new line. */
  readonly oneLine?: boolean;
  /** Another participant edits it. */
  readonly isLocked: boolean;
  /** The id of the element that names them. */
  readonly describedBy: string;
  readonly fieldRef?: Ref<HTMLTextAreaElement>;
  commit(text: string, readAt: number): void;
  /** Something is being typed. */
  begin(): void;
  /** The person has pressed Enter or Escape. */
  end(): void;
}

/** Text that is read like text and edited by clicking into it. It grows with what it holds. */
export function EditableText({
  label,
  value,
  placeholder,
  className,
  oneLine,
  isLocked,
  describedBy,
  fieldRef,
  commit,
  begin,
  end,
}: Props) {
  const draft = useDraft(value, commit);
  const blocks = useMemo(() => (oneLine ? undefined : tableText(draft.text)), [oneLine, draft.text]);
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    // While a word is being composed (Japanese, accents), Enter and Escape belong to the composition.
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Escape") {
      // What Enter has saved a moment ago stays saved.
      doWhatIsDue();
      draft.drop();
      end();
      event.stopPropagation();
    }
    if (event.key === "Enter" && (oneLine || event.metaKey || event.ctrlKey)) {
      event.preventDefault();
      afterPaint(() => {
        draft.save();
        end();
      });
    }
  };

  return (
    // The copy of the text in `data-text` gives the box its height where the browser does not, without measuring.
    <div className={`grows ${className}`} data-text={draft.text}>
      <textarea
        ref={fieldRef}
        aria-label={label}
        rows={1}
        value={draft.text}
        placeholder={placeholder}
        spellCheck
        readOnly={isLocked}
        aria-describedby={isLocked ? describedBy : undefined}
        onChange={(event) => {
          begin();
          draft.type(oneLine ? event.target.value.replace(/\s*\n\s*/g, " ") : event.target.value);
        }}
        onBlur={() => afterPaint(draft.save)}
        onKeyDown={onKeyDown}
      />
      {blocks && <Tables blocks={blocks} />}
    </div>
  );
}
