import { Type } from '@sinclair/typebox'
import { integer, object } from './build.js'
import { routeLogSchema } from './capture.js'

/** A text that records repeat; it may come from a reference, such as the revision that a pipeline has built. */
function label(description: string) {
  return Type.String({
    pattern: '^[A-Za-z0-9][A-Za-z0-9._+:/-]{0,127}$',
    keepsReference: true,
    description,
    expects:
      'up to 128 letters, digits, dots, hyphens, underscores, colons, slashes and plus signs, a letter or digit first',
  })
}

/** Which gateway this is among several that keep their records together. */
export const environmentSchema = label(
  'Which gateway this is, such as `production`; the traffic log writes it into every record.',
)

/** What is said of an API beside its name. */
export const apiSchema = object(
  {
    group: Type.Optional(label('What it belongs to, such as a team or a product.')),
    revision: Type.Optional(
      Type.Union(
        [
          label('A text, such as `2026-11.3`.'),
          integer(0, Number.MAX_SAFE_INTEGER, { description: 'A number.' }),
        ],
        { keepsReference: true, description: 'Its version, such as `7`.' },
      ),
    ),
    log: Type.Optional(routeLogSchema),
  },
  { description: 'What the traffic log records of the calls of this API, beside its name.' },
)
