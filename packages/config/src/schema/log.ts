import { Type } from '@sinclair/typebox'
import { duration, filePath, integer, name, object, oneOf, ratio, size, text } from './build.js'
import { captureSchema, narrowingSchema } from './capture.js'
import { logPrivacySchema } from './log-privacy.js'
import { spool } from './log-spool.js'
import { custom, kafka, loki, otlp, stdout, syslog, webhook } from './log-targets.js'

/**
 * Names that Elasticsearch accepts for a data stream (create data stream API) and that need no escaping in
 * URLs.
 */
const DATA_STREAM = '^[a-z0-9][a-z0-9._-]{0,254}$'

const file = object(
  {
    dir: Type.Optional(
      filePath(
        'Folder of the log files. Absent: data/traffic, or data/traffic-ID for an entry of log.outputs, in the working directory.',
      ),
    ),
    maxBytes: size('1mb', '100000gb', {
      default: '1gb',
      description: 'Maximum size of all files together. The oldest files are deleted.',
    }),
    segmentBytes: Type.Optional(
      size('64kb', '16gb', {
        description: 'Size at which a new file is started. Absent: 64mb, but at most half of `maxBytes`.',
      }),
    ),
  },
  { default: {}, description: 'Settings of a `file` target.' },
)

const auth = object(
  {
    username: Type.Optional(Type.String({ maxLength: 256, description: 'User name.' })),
    password: Type.Optional(Type.String({ secret: true, maxLength: 4096, description: 'Password.' })),
    apiKey: Type.Optional(
      Type.String({
        secret: true,
        maxLength: 4096,
        description: 'API key in the encoded form that Elasticsearch returns.',
      }),
    ),
  },
  {
    description: 'Authentication with user name and password, or with an API key.',
    choice: { keys: ['username', 'apiKey'], min: 1, max: 1 },
  },
)

const tls = object(
  {
    caFile: Type.Optional(filePath("CA certificates to trust instead of the system's, PEM.")),
    insecure: Type.Boolean({ default: false, description: 'Accepts any certificate. For testing only.' }),
  },
  { default: {}, description: 'TLS settings for `https://` nodes.' },
)

const elasticsearch = object(
  {
    nodes: Type.Array(text('http-url'), {
      minItems: 1,
      maxItems: 100,
      description: 'URLs of cluster nodes. If a node does not respond, the next one is used.',
    }),
    dataStream: Type.String({
      pattern: DATA_STREAM,
      keepsReference: true,
      default: 'logs-gateway-default',
      description: 'Data stream that records are written to.',
      expects: 'the name of a data stream: lower-case letters, digits, dots, hyphens and underscores',
    }),
    product: oneOf(['elasticsearch', 'opensearch'], {
      default: 'elasticsearch',
      description: 'Product that the nodes run. OpenSearch 2.7 or later.',
    }),
    auth: Type.Optional(auth),
    tls,
    compress: Type.Boolean({
      default: false,
      description: 'Compresses requests, which saves bandwidth and costs CPU time.',
    }),
    retention: Type.Optional(
      duration('1d', '36500d', { description: 'Age at which records are deleted. Absent: never.' }),
    ),
    replicas: integer(0, 10, {
      default: 1,
      description: 'Number of replicas per shard. Use 0 for a single node.',
    }),
    manage: Type.Boolean({
      default: true,
      description:
        'Creates the index template and the data stream before the first record, like `gw log-setup`.',
    }),
    spool,
  },
  { description: 'Settings of a `elasticsearch` target.' },
)

const geo = object(
  {
    file: filePath(
      'Database in MaxMind DB format, such as GeoLite2-City.mmdb. It is reloaded when it changes.',
    ),
  },
  { description: 'Adds the country and location of clients to records. Absent: disabled.' },
)

/** Kinds of log targets, in the order of the manual. */
export const LOG_TARGET_KINDS = [
  'file',
  'elasticsearch',
  'stdout',
  'syslog',
  'webhook',
  'loki',
  'kafka',
  'otlp',
  'custom',
] as const

/** Kinds of log targets. */
export const LOG_SINKS = [...LOG_TARGET_KINDS, 'none'] as const

/** Kind of a log target. */
export type LogSinkName = (typeof LOG_SINKS)[number]

/** Keys shared by `log` and the entries of `log.outputs`. */
const settings = {
  fields: oneOf(['minimal', 'standard', 'full'], {
    default: 'standard',
    description: 'Amount of detail per record.',
  }),
  file,
  elasticsearch: Type.Optional(elasticsearch),
  stdout,
  syslog: Type.Optional(syslog),
  webhook: Type.Optional(webhook),
  loki: Type.Optional(loki),
  kafka: Type.Optional(kafka),
  otlp: Type.Optional(otlp),
  custom: Type.Optional(custom),
  privacy: Type.Optional(logPrivacySchema),
}

const output = object(
  {
    id: name('Name of the target in metrics and in /v1/log. `main` is reserved for log.sink.'),
    sink: oneOf(LOG_TARGET_KINDS, { description: 'Kind of the target.' }),
    when: Type.Optional(
      text('record-condition', { description: 'Condition (CEL). Only matching requests are recorded.' }),
    ),
    sample: Type.Optional(ratio({ description: 'Share of these calls that is recorded. Absent: all.' })),
    capture: Type.Optional(narrowingSchema),
    ...settings,
  },
  { description: 'An additional target with its own spool.' },
)

/** Schema of the traffic log. */
export const logSchema = object(
  {
    sink: Type.Optional(
      oneOf(LOG_SINKS, {
        description: 'Kind of the main target. Absent: `file`, or `none` if `log.outputs` has entries.',
      }),
    ),
    ...settings,
    outputs: Type.Array(output, {
      default: [],
      maxItems: 16,
      description: 'Additional targets, each with its own filter.',
    }),
    geo: Type.Optional(geo),
    slowAfter: duration('1ms', '1h', {
      default: '1s',
      description:
        'Duration from which a call counts as slow. Its record then also contains policies, connections and event loop delay, like the record of a failed call.',
    }),
    unknownRoutes: Type.Boolean({
      default: true,
      description: 'Records requests that match no route, and requests that are rejected before routing.',
    }),
    capture: Type.Optional(captureSchema),
  },
  {
    default: {},
    deprecatedKeys: { slow: 'slowAfter', targets: 'outputs' },
    description: 'Traffic log, with one record per call.',
  },
)
