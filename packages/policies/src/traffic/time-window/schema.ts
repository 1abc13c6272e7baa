import type { Static } from '@sinclair/typebox'
import * as field from '../../shared/options/options.js'

const TIME_PATTERN = '^([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d)?$|^24:00(:00)?$'
const DATE_PATTERN = '^(\\d{4}-)?\\d{2}-\\d{2}(\\.\\.(\\d{4}-)?\\d{2}-\\d{2})?$'

const window = field.closed('Recurring time window.', {
  days: field.optionalList(
    field.oneOf(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], 'Day of the week.'),
    'Days of the week on which the window begins. Default: every day.',
    { minItems: 1 },
  ),
  dates: field.optionalList(
    field.string('A date (`2030-12-24`), a yearly date (`12-24`), or a range of either.', {
      pattern: DATE_PATTERN,
    }),
    'Dates on which the window begins, such as `2030-12-24`, `12-24` or `12-24..01-02`. Default: every date.',
    { minItems: 1, maxItems: 500 },
  ),
  from: field.optionalString('Start time, `hh:mm` or `hh:mm:ss`.', {
    pattern: TIME_PATTERN,
    default: '00:00',
  }),
  to: field.optionalString(
    'End time, exclusive. If it is not after `from`, the window ends on the next day.',
    { pattern: TIME_PATTERN, default: '24:00' },
  ),
})

/** Schema of the `time-window` configuration. */
export const timeWindowSchema = field.policyOptions(
  {
    mode: field.optionalOneOf(
      ['allow', 'restrict'],
      '`allow` accepts requests only within the windows, `restrict` only outside of them.',
      'allow',
    ),
    timeZone: field.optionalString(
      'Time zone of all days and times, an IANA name such as `Europe/Istanbul`.',
      { default: 'UTC', minLength: 1, maxLength: 64 },
    ),
    windows: field.list(window, 'Time windows. At least one of them must match.', {
      minItems: 1,
      maxItems: 100,
    }),
    retryAfter: field.optionalFlag(
      true,
      'Sends `Retry-After` with the time until requests are accepted again, if that is within 400 days.',
    ),
  },
  [
    'Requests at other times are refused with 403 `GW_TIME_RESTRICTED`. The arrival time counts: an accepted request may finish after the window has closed.',
    'Times are local times of the time zone. A window within the hour skipped by the change to summer time does not occur on that day. A window within the repeated hour occurs twice. A window that crosses midnight belongs to the day on which it begins: `days: [fri]`, `from: 22:00`, `to: 06:00` includes early Saturday. If both `days` and `dates` are set, a day must match both.',
    'Times come from the system clock. Time zone rules come from the Node.js version that runs the gateway.',
  ],
)

/** Configuration of `time-window`, derived from its schema. */
export type TimeWindowConfig = Static<typeof timeWindowSchema>
/** A window in `windows`. */
export type WindowConfig = TimeWindowConfig['windows'][number]
