import { Type } from '@sinclair/typebox'
import { DURATION_PATTERN } from '@sluice/core'
import { mapOf, object, oneOf, size, text } from './build.js'

/** Pattern of the conditions in `keepBodyOn`. */
export const KEEP_BODY_PATTERN = `^(${[
  'error|blocked|aborted|shed',
  `slow>${DURATION_PATTERN.slice(1, -1)}`,
  'status>=[1-5][0-9]{2}',
  'sample=(100|[0-9]{1,2}(\\.[0-9]{1,6})?)%',
].join('|')})$`

function region(description: string) {
  return Type.Optional(
    object(
      {
        headers: Type.Optional(Type.Boolean({ description: 'Records the header fields.' })),
        body: Type.Optional(Type.Boolean({ description: 'Records the body, up to `maxBodyBytes` bytes.' })),
      },
      { description },
    ),
  )
}

function fieldNames(description: string) {
  return Type.Optional(Type.Array(text('field-name'), { maxItems: 100, description }))
}

const settings = {
  requestIn: region('Request as received from the client.'),
  requestUp: region('Request as sent to the target.'),
  responseUp: region('Response as received from the target.'),
  responseOut: region('Response as sent to the client.'),
  maxBodyBytes: Type.Optional(
    size('1b', '64kb', { description: 'Maximum number of recorded bytes per body. Default: 4kb.' }),
  ),
  sha256: Type.Optional(
    Type.Boolean({ description: 'Records the SHA-256 of each complete body. Default: false.' }),
  ),
  headersAllow: fieldNames('Records only these header fields. Default: all.'),
  headersDeny: fieldNames('Header fields that are never recorded.'),
  binary: Type.Optional(
    oneOf(['omit', 'base64'], {
      description:
        'Handling of bodies that are not text: `omit` records only size and type, `base64` records the content. Default: omit.',
    }),
  ),
  multipart: Type.Optional(
    oneOf(['names', 'values'], {
      description:
        'Content recorded from multipart forms: `names` records only the field headers, `values` also the field values. File contents are never recorded. Default: names.',
    }),
  ),
  keepBodyOn: Type.Optional(
    Type.Array(
      Type.String({
        pattern: KEEP_BODY_PATTERN,
        expects:
          'error, blocked, aborted, shed, slow>DURATION such as slow>1s, status>=NUMBER such as status>=500, or sample=PERCENTAGE such as sample=1%',
        description: 'A result, a duration, a status or a sampling rate.',
      }),
      {
        maxItems: 10,
        description:
          'Records bodies only if the exchange ended in one of these ways or is part of the sample. Default, or empty: always.',
      },
    ),
  ),
}

const deprecatedKeys = { maxBody: 'maxBodyBytes' }

/**
 * Schema of `capture`. No key has a default here: a route inherits missing keys from its API or from the
 * document, and a method inherits them from its route (see planning/capture-plan).
 */
export const captureSchema = object(settings, {
  deprecatedKeys,
  description: 'Headers and bodies that the traffic log records. Absent: none.',
})

/**
 * Schema of `capture` of one log target, which can only reduce what was captured (see planning/capture-plan).
 */
export const narrowingSchema = object(settings, {
  deprecatedKeys,
  description:
    'Restricts which captured headers and bodies this target records. Absent keys: everything that was captured.',
})

const rule = {
  off: Type.Optional(Type.Boolean({ description: 'Disables records.' })),
  capture: Type.Optional(captureSchema),
}

/** Schema of the traffic log settings of a route, or of all routes of an API. */
export const routeLogSchema = object(
  {
    ...rule,
    methods: mapOf(object(rule, { description: 'Settings for this method.' }), {
      default: {},
      maxProperties: 50,
      propertyNames: text('method'),
      description: 'Settings for individual methods, which override the ones above.',
    }),
  },
  { description: 'Traffic log settings. Keys that are absent come from the API, then from `log`.' },
)
