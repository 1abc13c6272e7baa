import type { Static } from '@sinclair/typebox'
import {
  closed,
  list,
  oneOf,
  optionalFlag,
  optionalList,
  optionalOneOf,
  optionalString,
  policyOptions,
  string,
} from '../../shared/options.js'

const TIME_PATTERN = '^([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d)?$|^24:00(:00)?$'
const DATE_PATTERN = '^(\\d{4}-)?\\d{2}-\\d{2}(\\.\\.(\\d{4}-)?\\d{2}-\\d{2})?$'

const window = closed('A time that comes again.', {
  days: optionalList(
    oneOf(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], 'A day of the week.'),
    'The days of the week on which the window begins; without it every day.',
    { minItems: 1 },
  ),
  dates: optionalList(
    string('A day (`2030-12-24`), a day of every year (`12-24`), or a range of one kind.', {
      pattern: DATE_PATTERN,
    }),
    'The dates on which the window begins, such as `2030-12-24`, `12-24` or `12-24..01-02`; without it every date.',
    { minItems: 1, maxItems: 500 },
  ),
  from: optionalString('The time of day at which it begins, `hh:mm` or `hh:mm:ss`.', {
    pattern: TIME_PATTERN,
    default: '00:00',
  }),
  to: optionalString(
    'The time of day before which it ends. One that is not after `from` is of the next day.',
    { pattern: TIME_PATTERN, default: '24:00' },
  ),
})

/** The configuration of `time-window`. */
export const timeWindowSchema = policyOptions(
  {
    mode: optionalOneOf(
      ['allow', 'restrict'],
      '`allow` lets requests pass within the windows only, `restrict` at all times but within the windows.',
      'allow',
    ),
    timeZone: optionalString(
      'The time zone of all days and times, by its IANA name such as `Europe/Istanbul`.',
      { default: 'UTC', minLength: 1, maxLength: 64 },
    ),
    windows: list(window, 'When; a moment is within when one of them holds it.', {
      minItems: 1,
      maxItems: 100,
    }),
    retryAfter: optionalFlag(
      true,
      'Informs the client in `Retry-After` when requests pass again, within 400 days.',
    ),
  },
  [
    'A request that comes at another time is refused with 403 `GW_TIME_RESTRICTED`. What counts is the moment of its arrival: one that was let in is finished however long it takes.',
    'Times are those that a clock on the wall of the time zone shows. In the hour that a change to summer time leaves out nothing happens, and a window within it does not exist on that day; in the hour that comes twice, a window within it comes twice. A window that crosses midnight belongs to the day on which it begins: `days: [fri]`, `from: 22:00`, `to: 06:00` holds early Saturday. With both `days` and `dates` a day has to be in both.',
    'The clock of the machine decides; the rules of the time zones are those of the Node.js that runs the gateway.',
  ],
)

/** The configuration of `time-window`, derived from its schema. */
export type TimeWindowConfig = Static<typeof timeWindowSchema>
export type WindowConfig = TimeWindowConfig['windows'][number]
