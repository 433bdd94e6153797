// Filter by place: a city or coordinates, and a radius. In the URL it is `near=LAT,LNG,MILES`.
import { useEffect, useId, useState } from 'preact/hooks';
import { CITIES } from '../cities.ts';

export interface Near {
  readonly lat: number;
  readonly lng: number;
  readonly radius: number;
}

const RADII = [1, 5, 10, 25, 50, 100];
const DEFAULT_RADIUS = 25;
const OTHER = 'other';

/** Undefined if the text is not what the API would take. */
export function nearOf(text: string | null): Near | undefined {
  const [lat = Number.NaN, lng = Number.NaN, radius = Number.NaN, ...more] = (text ?? '')
    .split(',')
    .map((part) => (part.trim() === '' ? Number.NaN : Number(part)));
  const isNear = Math.abs(lat) <= 90 && Math.abs(lng) <= 180 && radius >= 0.1 && radius <= 100;
  return isNear && more.length === 0 ? { lat, lng, radius } : undefined;
}

export function encodeNear({ lat, lng, radius }: Near): string {
  return `${lat},${lng},${radius}`;
}

interface PlaceFilterProps {
  near: Near | undefined;
  onChoose: (near: Near | undefined) => void;
}

export function PlaceFilter({ near, onChoose }: PlaceFilterProps) {
  const [isTyping, setTyping] = useState(false);
  const city = near && CITIES.find(([, lat, lng]) => lat === near.lat && lng === near.lng)?.[0];
  const radius = near?.radius ?? DEFAULT_RADIUS;
  const choose = (name: string) => {
    const [, lat, lng] = CITIES.find(([known]) => known === name) ?? [];
    setTyping(name === OTHER);
    if (lat !== undefined && lng !== undefined) onChoose({ lat, lng, radius });
    else if (name === '') onChoose(undefined);
  };
  const isOther = isTyping || (near !== undefined && city === undefined);
  return (
    <>
      <label>
        <span>Place</span>
        <select
          value={isOther ? OTHER : (city ?? '')}
          onChange={(event) => choose(event.currentTarget.value)}
        >
          <option value="">Anywhere</option>
          {CITIES.map(([name]) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
          <option value={OTHER}>Coordinates…</option>
        </select>
      </label>
      {isOther && (
        <CoordinatesField
          value={near ? `${near.lat}, ${near.lng}` : ''}
          onChoose={(lat, lng) => {
            setTyping(false);
            onChoose({ lat, lng, radius });
          }}
        />
      )}
      {near && (
        <label>
          <span>Within</span>
          <select
            value={String(radius)}
            onChange={(event) => onChoose({ ...near, radius: Number(event.currentTarget.value) })}
          >
            {[...new Set([...RADII, radius])].map((miles) => (
              <option key={miles} value={String(miles)}>
                {miles} {miles === 1 ? 'mile' : 'miles'}
              </option>
            ))}
          </select>
        </label>
      )}
    </>
  );
}

interface CoordinatesFieldProps {
  value: string;
  onChoose: (lat: number, lng: number) => void;
}

/** Filters on Enter, or when the field is left. */
function CoordinatesField({ value, onChoose }: CoordinatesFieldProps) {
  const [text, setText] = useState(value);
  const [isWrong, setWrong] = useState(false);
  const id = useId();
  useEffect(() => setText(value), [value]);
  const choose = () => {
    if (text.trim() === value) return;
    const place = nearOf(`${text},${DEFAULT_RADIUS}`);
    setWrong(!place && text.trim() !== '');
    if (place) onChoose(place.lat, place.lng);
  };
  return (
    <label>
      <span>Coordinates</span>
      <input
        type="text"
        class="coordinates"
        placeholder="52.52, 13.405"
        autocomplete="off"
        spellcheck={false}
        value={text}
        aria-invalid={isWrong}
        aria-describedby={isWrong ? id : undefined}
        onInput={(event) => setText(event.currentTarget.value)}
        onBlur={choose}
        onKeyDown={(event) => {
          if (event.key === 'Enter') choose();
        }}
      />
      {isWrong && (
        <span id={id} class="field-error" role="alert">
          Type latitude and longitude, such as 52.52, 13.405.
        </span>
      )}
    </label>
  );
}
