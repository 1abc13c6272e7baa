import { Type } from '@sinclair/typebox'
import { duration, filePath, integer, name, object, oneOf, ratio, size, text } from './build.js'
import { captureSchema, narrowingSchema } from './capture.js'
import { logPrivacySchema } from './log-privacy.js'
import { spool } from './log-spool.js'
import { custom, stdout, syslog, webhook } from './log-targets.js'

/** What Elasticsearch takes as the name of a data stream (create data stream API), without what would need an escape. */
const DATA_STREAM = '^[a-z0-9][a-z0-9._-]{0,254}$'

const file = object(
  {
    dir: Type.Optional(
      filePath(
        'Where the segments go. Absent: data/traffic, and data/traffic-ID for one of log.targets, in the working directory.',
      ),
    ),
    maxBytes: size(
      { min: '1mb', max: '100000gb' },
      { default: '1gb', description: 'All segments together; the oldest is removed.' },
    ),
    segmentBytes: Type.Optional(
      size(
        { min: '64kb', max: '16gb' },
        {
          description:
            'A segment is closed at this size. Absent: 64mb, or half of maxBytes when that is less.',
        },
      ),
    ),
  },
  { default: {}, description: 'The sink `file`.' },
)

const auth = object(
  {
    username: Type.Optional(Type.String({ maxLength: 256, description: 'The user.' })),
    password: Type.Optional(Type.String({ secret: true, maxLength: 4096, description: 'The password.' })),
    apiKey: Type.Optional(
      Type.String({
        secret: true,
        maxLength: 4096,
        description: 'The API key, as Elasticsearch encodes it.',
      }),
    ),
  },
  {
    description: 'A user and password, or an API key.',
    choice: { keys: ['username', 'apiKey'], min: 1, max: 1 },
  },
)

const tls = object(
  {
    caFile: Type.Optional(filePath("Authorities to trust instead of the system's, PEM.")),
    insecure: Type.Boolean({ default: false, description: 'Accepts any certificate. For trials only.' }),
  },
  { default: {}, description: 'How certificates of https nodes are checked.' },
)

const elasticsearch = object(
  {
    nodes: Type.Array(text('http-url'), {
      minItems: 1,
      maxItems: 100,
      description: 'The URLs of the cluster; another one takes over when a node does not answer.',
    }),
    dataStream: Type.String({
      pattern: DATA_STREAM,
      keepsReference: true,
      default: 'logs-gateway-default',
      description: 'The data stream that gets the records.',
      expects: 'the name of a data stream: lower-case letters, digits, dots, hyphens and underscores',
    }),
    auth: Type.Optional(auth),
    tls,
    compress: Type.Boolean({ default: false, description: 'Compresses requests: less network, more CPU.' }),
    retention: Type.Optional(
      duration(
        { min: '1d', max: '36500d' },
        { description: 'Records are deleted after this time. Absent: they are kept.' },
      ),
    ),
    replicas: integer(0, 10, { default: 1, description: 'Copies of each shard; 0 for a single node.' }),
    manage: Type.Boolean({
      default: true,
      description:
        'Creates the index template and the data stream before the first record, as `gw log-setup` does.',
    }),
    spool,
  },
  { description: 'The sink `elasticsearch`.' },
)

const geo = object(
  {
    file: filePath(
      'A database in the MaxMind DB format, such as GeoLite2-City.mmdb. It is read again when it has changed.',
    ),
  },
  { description: 'Records in which country and where clients are. Absent: not.' },
)

const KINDS = ['file', 'elasticsearch', 'stdout', 'syslog', 'webhook', 'custom'] as const

/** Where records can go. */
export const LOG_SINKS = [...KINDS, 'none'] as const

/** A sink by its name. */
export type LogSinkName = (typeof LOG_SINKS)[number]

/** What the log and each of its further targets have in common. */
const settings = {
  fields: oneOf(['minimal', 'standard', 'full'], {
    default: 'standard',
    description: 'How much a record says.',
  }),
  file,
  elasticsearch: Type.Optional(elasticsearch),
  stdout,
  syslog: Type.Optional(syslog),
  webhook: Type.Optional(webhook),
  custom: Type.Optional(custom),
  privacy: Type.Optional(logPrivacySchema),
}

const target = object(
  {
    id: name('Its name in metrics and at /v1/log; `main` is that of log.sink.'),
    sink: oneOf(KINDS, { description: 'Where its records go.' }),
    when: Type.Optional(
      text('record-condition', {
        description: 'It gets only the calls for which this condition (CEL) holds.',
      }),
    ),
    sample: Type.Optional(ratio({ description: 'It gets this share of those calls only. Absent: all.' })),
    capture: Type.Optional(narrowingSchema),
    ...settings,
  },
  { description: 'A further output, with a spool of its own.' },
)

/** The traffic log. */
export const logSchema = object(
  {
    sink: Type.Optional(
      oneOf(LOG_SINKS, {
        description: 'Where records go. Absent: file, or none where there are targets.',
      }),
    ),
    ...settings,
    targets: Type.Array(target, {
      default: [],
      maxItems: 16,
      description: 'Further outputs, each with a choice of its own.',
    }),
    geo: Type.Optional(geo),
    slow: duration(
      { min: '1ms', max: '1h' },
      {
        default: '1s',
        description:
          'The record of a call that takes longer has policies, connections and the delay of the event loop, as one that fails does.',
      },
    ),
    unknownRoutes: Type.Boolean({
      default: true,
      description: 'Records requests that no route takes, and those that are refused before.',
    }),
    capture: Type.Optional(captureSchema),
  },
  { default: {}, description: 'The traffic log: one record for every call.' },
)
