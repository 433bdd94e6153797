// Filter by place: a city or coordinates, and a radius. In the URL it is `near=LAT,LNG,MILES`.
import { useState } from 'preact/hooks';
import { CITIES } from '../cities.ts';
import { SelectFilter, TextFilter } from '../components/filter-fields.tsx';

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
  const chooseCoordinates = (text: string) => {
    const place = nearOf(`${text},${radius}`);
    if (!place) return text === '' ? undefined : 'Type latitude and longitude, such as 52.52, 13.405.';
    setTyping(false);
    onChoose(place);
    return undefined;
  };
  const isOther = isTyping || (near !== undefined && city === undefined);
  return (
    <>
      <SelectFilter
        label="Place"
        value={isOther ? OTHER : (city ?? '')}
        options={[
          ['', 'Anywhere'],
          ...CITIES.map(([name]) => [name, name] as const),
          [OTHER, 'Coordinates…'],
        ]}
        onChoose={choose}
      />
      {isOther && (
        <TextFilter
          label="Coordinates"
          class="coordinates"
          placeholder="52.52, 13.405"
          value={near ? `${near.lat}, ${near.lng}` : ''}
          onChoose={chooseCoordinates}
        />
      )}
      {near && (
        <SelectFilter
          label="Within"
          value={String(radius)}
          options={[...new Set([...RADII, radius])].map((miles) => [
            String(miles),
            `${miles} ${miles === 1 ? 'mile' : 'miles'}`,
          ])}
          onChoose={(miles) => onChoose({ ...near, radius: Number(miles) })}
        />
      )}
    </>
  );
}
