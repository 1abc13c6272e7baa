import { Type } from '@sinclair/typebox'
import { DURATION_PATTERN } from '@sluice/core'
import { mapOf, object, oneOf, size, text } from './build.js'

/** The ways an exchange can end in which its bodies are kept. */
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
        body: Type.Optional(Type.Boolean({ description: 'Records the beginning of the body.' })),
      },
      { description },
    ),
  )
}

function fieldNames(description: string) {
  return Type.Optional(Type.Array(text('field-name'), { maxItems: 100, description }))
}

const settings = {
  requestIn: region('The request as the client sent it.'),
  requestUp: region('The request as it went to the target.'),
  responseUp: region('The response as the target sent it.'),
  responseOut: region('The response as it went to the client.'),
  maxBody: Type.Optional(
    size(
      { min: '1b', max: '64kb' },
      { description: 'The most that is recorded of a body, for each region. Absent everywhere: 4kb.' },
    ),
  ),
  sha256: Type.Optional(
    Type.Boolean({
      description: 'Records the SHA-256 of each whole body that is recorded. Absent everywhere: false.',
    }),
  ),
  headersAllow: fieldNames('Only these header fields are recorded. Absent everywhere: all.'),
  headersDeny: fieldNames('These header fields are not recorded.'),
  binary: Type.Optional(
    oneOf(['omit', 'base64'], {
      description:
        'What becomes of bodies that are not text. Absent everywhere: omit, only size and type are recorded.',
    }),
  ),
  multipart: Type.Optional(
    oneOf(['names', 'values'], {
      description:
        'What is recorded of the fields of a multipart form. Of its files nothing but the field lines ever is. Absent everywhere: names, the field lines alone.',
    }),
  ),
  keepBodyOn: Type.Optional(
    Type.Array(
      Type.String({
        pattern: KEEP_BODY_PATTERN,
        expects:
          'error, blocked, aborted, shed, slow>DURATION such as slow>1s, status>=NUMBER such as status>=500, or sample=PERCENTAGE such as sample=1%',
        description: 'A way for an exchange to end, or a share of all.',
      }),
      {
        maxItems: 10,
        description:
          'Bodies are recorded only of exchanges that ended in one of these ways, or are in the sample. Absent everywhere, or empty: of all.',
      },
    ),
  ),
}

/**
 * What is recorded of the messages themselves. No key has a default here, because what a route leaves out comes from its
 * API or the document, and what a method leaves out from its route (see planning/capture-plan).
 */
export const captureSchema = object(settings, {
  description: 'What is recorded of the messages themselves. Absent: nothing.',
})

/** What one output records of what is recorded (see planning/capture-plan). */
export const narrowingSchema = object(settings, {
  description: 'What it holds of the messages that are recorded. What is left out is as it is recorded.',
})

const rule = {
  off: Type.Optional(Type.Boolean({ description: 'true: no records.' })),
  capture: Type.Optional(captureSchema),
}

/** How the traffic log treats a route, or the routes of an API. */
export const routeLogSchema = object(
  {
    ...rule,
    methods: mapOf(object(rule, { description: 'What differs for this method.' }), {
      default: {},
      maxProperties: 50,
      propertyNames: text('method'),
      description: 'What differs for single methods.',
    }),
  },
  { description: 'How the traffic log treats it. What is left out is as in the API, or else in `log`.' },
)
