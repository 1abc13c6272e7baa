import { Type } from '@sinclair/typebox'
import { integer, object } from './build.js'
import { routeLogSchema } from './capture.js'

/**
 * Schema of a label that is copied into log records. It may come from a reference, such as a revision set by
 * a CI pipeline.
 */
function label(description: string) {
  return Type.String({
    pattern: '^[A-Za-z0-9][A-Za-z0-9._+:/-]{0,127}$',
    keepsReference: true,
    description,
    expects:
      'up to 128 letters, digits, dots, hyphens, underscores, colons, slashes and plus signs, starting with a letter or digit',
  })
}

/** Name of this gateway, for installations that collect the records of several gateways. */
export const environmentSchema = label(
  'Name of this gateway or environment, such as `production`. It is written into every record of the traffic log.',
)

/** Metadata of an API. */
export const apiSchema = object(
  {
    group: Type.Optional(label('Team or product that the API belongs to.')),
    revision: Type.Optional(
      Type.Union(
        [
          label('Revision as a string, such as `2026-11.3`.'),
          integer(0, Number.MAX_SAFE_INTEGER, { description: 'Revision as a number.' }),
        ],
        { keepsReference: true, description: 'Revision of the API, such as `7`.' },
      ),
    ),
    log: Type.Optional(routeLogSchema),
  },
  { description: "Metadata of an API. The traffic log adds it to the records of the API's calls." },
)
