// The ten cities of the demo, with their venues.

export interface City {
  readonly name: string;
  readonly timezone: string;
  /** Formats a price in the local currency. */
  readonly price: (amount: number) => string;
  readonly lat: number;
  readonly lng: number;
  readonly venues: readonly (readonly [name: string, street: string])[];
}

const euros = (amount: number) => `${amount} €`;
const dollars = (amount: number) => `$${amount}`;

export const CITIES: readonly City[] = [
  {
    name: 'Berlin',
    timezone: 'Europe/Berlin',
    price: euros,
    lat: 52.52,
    lng: 13.405,
    venues: [
      ['Kulturhaus Mitte', 'Linienstraße'],
      ['Holzmarkt am Fluss', 'Holzmarktstraße'],
      ['Alte Druckerei', 'Oranienstraße'],
      ['Haus der Nachbarn', 'Bergmannstraße'],
      ['Planetarium am Park', 'Prenzlauer Allee'],
    ],
  },
  {
    name: 'London',
    timezone: 'Europe/London',
    price: (amount) => `£${amount}`,
    lat: 51.5074,
    lng: -0.1278,
    venues: [
      ['The Old Tram Shed', 'Bermondsey Street'],
      ['Canalside Hall', 'Regent’s Row'],
      ['Southwark Reading Rooms', 'Borough High Street'],
      ['Peckham Arches', 'Rye Lane'],
      ['The Glasshouse', 'Royal Hill'],
    ],
  },
  {
    name: 'New York',
    timezone: 'America/New_York',
    price: dollars,
    lat: 40.7128,
    lng: -74.006,
    venues: [
      ['Pier 62 Pavilion', 'Hudson River Park'],
      ['The Brick Loft', 'Bedford Avenue'],
      ['East Village Commons', 'Avenue B'],
      ['Harlem Community Stage', 'Lenox Avenue'],
      ['Red Hook Workshop', 'Van Brunt Street'],
    ],
  },
  {
    name: 'Tokyo',
    timezone: 'Asia/Tokyo',
    price: (amount) => `¥${amount * 150}`,
    lat: 35.6762,
    lng: 139.6503,
    venues: [
      ['Shimokitazawa Hall', 'Kitazawa, Setagaya'],
      ['Yanaka Tea House', 'Yanaka, Taito'],
      ['Koenji Live Box', 'Koenji, Suginami'],
      ['Kiyosumi Garden House', 'Kiyosumi, Koto'],
      ['Shibuya Maker Floor', 'Dogenzaka, Shibuya'],
    ],
  },
  {
    name: 'Paris',
    timezone: 'Europe/Paris',
    price: euros,
    lat: 48.8566,
    lng: 2.3522,
    venues: [
      ['La Petite Halle', 'Rue de Belleville'],
      ['Atelier du Canal', 'Quai de Valmy'],
      ['Maison des Voisins', 'Rue Oberkampf'],
      ['Le Théâtre d’Été', 'Rue Mouffetard'],
      ['Jardin Partagé', 'Rue des Pyrénées'],
    ],
  },
  {
    name: 'São Paulo',
    timezone: 'America/Sao_Paulo',
    price: (amount) => `R$ ${amount * 5}`,
    lat: -23.5505,
    lng: -46.6333,
    venues: [
      ['Casa da Vila', 'Rua Harmonia'],
      ['Galpão Barra Funda', 'Rua do Bosque'],
      ['Centro de Dança', 'Rua Augusta'],
      ['Praça Coberta', 'Avenida Paulista'],
    ],
  },
  {
    name: 'Mumbai',
    timezone: 'Asia/Kolkata',
    price: (amount) => `₹${amount * 80}`,
    lat: 19.076,
    lng: 72.8777,
    venues: [
      ['Bandra Book Room', 'Hill Road'],
      ['Kala Ghoda Studio', 'Rope Walk Lane'],
      ['Seaside Amphitheatre', 'Carter Road'],
      ['Mill Yard', 'Lower Parel'],
    ],
  },
  {
    name: 'Sydney',
    timezone: 'Australia/Sydney',
    price: dollars,
    lat: -33.8688,
    lng: 151.2093,
    venues: [
      ['Marrickville Hall', 'Illawarra Road'],
      ['The Boatshed', 'Blackwattle Bay'],
      ['Newtown Social Rooms', 'King Street'],
      ['Paddock Market', 'Wilson Street'],
    ],
  },
  {
    name: 'Nairobi',
    timezone: 'Africa/Nairobi',
    price: (amount) => `KSh ${amount * 100}`,
    lat: -1.2921,
    lng: 36.8219,
    venues: [
      ['Karura Pavilion', 'Limuru Road'],
      ['The Alchemy Yard', 'Parklands Road'],
      ['Kilimani Hub', 'Argwings Kodhek Road'],
      ['Railway Studio', 'Workshops Road'],
    ],
  },
  {
    name: 'Toronto',
    timezone: 'America/Toronto',
    price: dollars,
    lat: 43.6532,
    lng: -79.3832,
    venues: [
      ['Kensington Parlour', 'Augusta Avenue'],
      ['Distillery Loft', 'Trinity Street'],
      ['Leslieville Barn', 'Queen Street East'],
      ['Lakeshore Rink', 'Lake Shore Boulevard'],
    ],
  },
];
