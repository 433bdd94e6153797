// Fields of filters: a choice, and a text.
import { useEffect, useId, useState } from 'preact/hooks';

interface SelectFilterProps {
  label: string;
  value: string;
  options: readonly (readonly [value: string, label: string])[];
  onChoose: (value: string) => void;
}

export function SelectFilter({ label, value, options, onChoose }: SelectFilterProps) {
  return (
    <label>
      <span>{label}</span>
      <select value={value} onChange={(event) => onChoose(event.currentTarget.value)}>
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

interface TextFilterProps {
  label: string;
  class?: string;
  placeholder: string;
  maxLength?: number;
  value: string;
  /** Called on Enter, or when the field is left, with another text. Returns what is wrong with it, if anything. */
  onChoose: (text: string) => string | undefined;
}

export function TextFilter(props: TextFilterProps) {
  const { label, placeholder, maxLength, value, onChoose } = props;
  const [text, setText] = useState(value);
  const [problem, setProblem] = useState<string>();
  const id = useId();
  useEffect(() => setText(value), [value]);
  const choose = () => {
    if (text.trim() !== value) setProblem(onChoose(text.trim()));
  };
  return (
    <label>
      <span>{label}</span>
      <input
        type="text"
        class={props.class}
        placeholder={placeholder}
        maxLength={maxLength}
        autocomplete="off"
        spellcheck={false}
        value={text}
        aria-invalid={problem !== undefined}
        aria-describedby={problem === undefined ? undefined : id}
        onInput={(event) => setText(event.currentTarget.value)}
        onBlur={choose}
        onKeyDown={(event) => {
          if (event.key === 'Enter') choose();
        }}
      />
      {problem !== undefined && (
        <span id={id} class="field-error" role="alert">
          {problem}
        </span>
      )}
    </label>
  );
}
