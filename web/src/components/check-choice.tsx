// Checkbox of a dialog, with a line about what it does.
import { useId } from 'preact/hooks';

interface CheckChoiceProps {
  label: string;
  hint: string;
  isChosen: boolean;
  onChoose: (isChosen: boolean) => void;
}

export function CheckChoice({ label, hint, isChosen, onChoose }: CheckChoiceProps) {
  const id = useId();
  return (
    <label class="check-choice" for={id}>
      <input
        id={id}
        type="checkbox"
        checked={isChosen}
        onChange={(event) => onChoose(event.currentTarget.checked)}
      />
      <span>
        {label}
        <small>{hint}</small>
      </span>
    </label>
  );
}
