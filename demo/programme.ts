// Event templates of the demo, by event type: titles, descriptions, usual hours, durations and prices.
import type { Audience, EventType } from '../src/domain/events/event.ts';

export interface Kind {
  readonly titles: readonly string[];
  readonly about: readonly string[];
  /** Possible start hours, local time. */
  readonly hours: readonly number[];
  readonly durationHours: number;
  readonly audiences: readonly Audience[];
  /** Highest ticket price; 0: always free. */
  readonly maxPrice: number;
}

const EVENINGS = [18, 19, 20];
const DAYTIME = [10, 11, 13, 14, 15];

/** Events that go on until four or later: whoever starts the demo after midnight finds something, too. */
export const NIGHTS: Kind & { readonly type: EventType } = {
  type: 'performance',
  titles: ['Dance until four', 'Night of short films', 'Open studios all night', 'Jam session after hours'],
  about: ['Come late, stay long.', 'The kitchen is open until two.', 'Doors stay open all night.'],
  hours: [22, 23],
  durationHours: 6,
  audiences: ['adults'],
  maxPrice: 18,
};

export const PROGRAMME: Readonly<Record<EventType, Kind>> = {
  workshop: {
    titles: [
      'Lantern making',
      'Screen printing for beginners',
      'Bread from wild yeast',
      'Solder your own synth',
      'Bookbinding afternoon',
    ],
    about: [
      'Materials are included; bring an apron.',
      'You take home what you make.',
      'Small group, no experience needed.',
    ],
    hours: DAYTIME,
    durationHours: 3,
    audiences: ['adults', 'all', 'kids'],
    maxPrice: 45,
  },
  performance: {
    titles: [
      'Jazz in the courtyard',
      'Improvised theatre',
      'String quartet by candlelight',
      'Stand-up for new material',
      'Brass band night',
    ],
    about: [
      'Doors open half an hour before.',
      'Seats are first come, first served.',
      'With an interval and a bar.',
    ],
    hours: EVENINGS,
    durationHours: 2,
    audiences: ['adults', 'all'],
    maxPrice: 38,
  },
  festival: {
    titles: [
      'Festival of lights',
      'Street food festival',
      'Short film weekend',
      'Harvest festival',
      'Festival of small presses',
    ],
    about: [
      'Three stages, one ticket.',
      'Open air; a tent if it rains.',
      'Children under twelve come in free.',
    ],
    hours: [11, 12],
    durationHours: 10,
    audiences: ['all'],
    maxPrice: 25,
  },
  market: {
    titles: [
      'Farmers’ market',
      'Night market',
      'Vinyl and book market',
      'Ceramics market',
      'Flea market on the square',
    ],
    about: ['More than forty stalls.', 'Cash is easiest.', 'Dogs are welcome.'],
    hours: [8, 9, 10],
    durationHours: 6,
    audiences: ['all'],
    maxPrice: 0,
  },
  competition: {
    titles: ['Chess blitz', 'Poetry slam', 'Robot race', 'Bake-off', 'Bouldering cup'],
    about: ['Sign up at the door until the start.', 'Prizes for the first three.', 'Spectators are welcome.'],
    hours: [14, 17, 19],
    durationHours: 4,
    audiences: ['all', 'adults', 'kids'],
    maxPrice: 12,
  },
  game: {
    titles: [
      'Board game evening',
      'Pub quiz',
      'Five-a-side kickabout',
      'Tabletop role-play one-shot',
      'Go for beginners',
    ],
    about: ['Come alone or with friends.', 'Games are provided; bring your favourite.', 'We start on time.'],
    hours: EVENINGS,
    durationHours: 3,
    audiences: ['adults', 'all'],
    maxPrice: 8,
  },
  social: {
    titles: ['Neighbours’ brunch', 'Language exchange', 'Sunset picnic', 'Repair café', 'Soup night'],
    about: ['No sign-up, just come.', 'Bring something to share.', 'Everybody is welcome.'],
    hours: [11, 16, 18],
    durationHours: 3,
    audiences: ['all', 'adults'],
    maxPrice: 0,
  },
  meetup: {
    titles: [
      'TypeScript meetup',
      'Urban gardeners',
      'Data visualisation circle',
      'Founders’ breakfast',
      'Home automation table',
    ],
    about: [
      'Two short talks, then time to talk.',
      'Food and drinks are available.',
      'Newcomers are introduced around.',
    ],
    hours: [8, 18, 19],
    durationHours: 3,
    audiences: ['adults'],
    maxPrice: 0,
  },
  club: {
    titles: ['Book club', 'Running club', 'Film club', 'Knitting club', 'Chess club for juniors'],
    about: ['We meet every week.', 'Try it once for free.', 'All levels.'],
    hours: [7, 17, 19],
    durationHours: 2,
    audiences: ['adults', 'all', 'kids'],
    maxPrice: 10,
  },
  support: {
    titles: [
      'New parents’ circle',
      'Grief café',
      'Job search help',
      'Living with long illness',
      'Homework help',
    ],
    about: ['Confidential and free.', 'You can just listen.', 'Led by trained volunteers.'],
    hours: [10, 15, 18],
    durationHours: 2,
    audiences: ['adults', 'all', 'kids'],
    maxPrice: 0,
  },
  talk: {
    titles: [
      'How bridges fall',
      'The city’s forgotten rivers',
      'What bees know',
      'An evening with an astronomer',
      'Cooking with less',
    ],
    about: ['With questions afterwards.', 'Recorded for those who cannot come.', 'In plain language.'],
    hours: EVENINGS,
    durationHours: 2,
    audiences: ['all', 'adults'],
    maxPrice: 15,
  },
  conference: {
    titles: ['Open data day', 'Conference on walkable cities', 'Accessible web day', 'Local news summit'],
    about: ['One day, two tracks.', 'Lunch is included.', 'Talks will be captioned.'],
    hours: [9],
    durationHours: 8,
    audiences: ['adults'],
    maxPrice: 120,
  },
  exhibition: {
    titles: [
      'Paper and shadow',
      'A hundred chairs',
      'Photographs of the night shift',
      'Maps that lie',
      'Young printmakers',
    ],
    about: ['Guided tour at noon.', 'Free on the first day.', 'Some works may be touched.'],
    hours: [10, 11],
    durationHours: 7,
    audiences: ['all'],
    maxPrice: 14,
  },
  tour: {
    titles: [
      'Architecture walk',
      'Street art by bike',
      'Behind the stage',
      'Ghosts of the old town',
      'Birds at dawn',
    ],
    about: ['About four kilometres, step-free.', 'Meet at the entrance.', 'In any weather.'],
    hours: [6, 10, 14, 20],
    durationHours: 2,
    audiences: ['all', 'adults'],
    maxPrice: 20,
  },
  ceremony: {
    titles: [
      'Tree planting',
      'Lantern procession',
      'New citizens’ welcome',
      'Midsummer opening',
      'Remembrance by the river',
    ],
    about: ['Open to everybody.', 'Music by the community choir.', 'Please come a little early.'],
    hours: [11, 17],
    durationHours: 2,
    audiences: ['all'],
    maxPrice: 0,
  },
};
