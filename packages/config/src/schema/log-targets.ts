import { Type } from '@sinclair/typebox'
import { duration, filePath, mapOf, object, oneOf, size, text } from './build.js'
import { spool } from './log-spool.js'
import { otlpKeys } from './otlp.js'

/**
 * Pattern of an SD-ID: up to 32 printable characters except `=`, `]` and `"`, with the `@` and enterprise
 * number that private names need (RFC 5424, 7.2.2).
 */
const STRUCTURED_DATA_ID = '^(?=.{3,32}$)[!#-<>-?A-\\[\\\\^-~]+@[0-9]+(\\.[0-9]+)*$'
const TOPIC = '^(?!\\.{1,2}$)[a-zA-Z0-9._-]{1,249}$'
const APP_NAME = '^[!-~]{1,48}$'

const FACILITIES = [
  ...([
    'kern',
    'user',
    'mail',
    'daemon',
    'auth',
    'syslog',
    'lpr',
    'news',
    'uucp',
    'cron',
    'authpriv',
  ] as const),
  ...(['ftp', 'ntp', 'audit', 'alert', 'clock', 'local0', 'local1', 'local2', 'local3', 'local4'] as const),
  ...(['local5', 'local6', 'local7'] as const),
] as const

/** Schema of the settings of a `stdout` target. */
export const stdout = object({ spool }, { default: {}, description: 'Settings of a `stdout` target.' })

const clientTls = {
  caFile: Type.Optional(filePath("CA certificates to trust instead of the system's, PEM.")),
  certFile: Type.Optional(filePath('Client certificate file, PEM.')),
  keyFile: Type.Optional(filePath('Private key file of the client certificate, PEM.')),
  insecure: Type.Boolean({ default: false, description: 'Accepts any certificate. For testing only.' }),
}

const syslogTls = object(clientTls, { default: {}, description: 'TLS settings for `tls://` addresses.' })

/** Schema of the settings of a `syslog` target. */
export const syslog = object(
  {
    address: text('syslog-url', {
      description: 'Address of the receiver: udp://, tcp:// or tls://, with host and port.',
    }),
    facility: oneOf(FACILITIES, { default: 'local0', description: 'Facility of all messages.' }),
    appName: Type.String({
      pattern: APP_NAME,
      keepsReference: true,
      default: 'sluice',
      description: 'APP-NAME of all messages.',
      expects: 'a name of up to 48 printable characters without spaces',
    }),
    structuredDataId: Type.String({
      pattern: STRUCTURED_DATA_ID,
      keepsReference: true,
      default: 'traffic@32473',
      description:
        'SD-ID of the structured data. The number is a private enterprise number; 32473 is reserved for examples.',
      expects: 'a name with an enterprise number, such as traffic@32473',
    }),
    maxMessageBytes: size('480b', '1mb', {
      default: '8kb',
      description:
        'Maximum message size. Longer messages become dead letters. Receivers also have their own limits.',
    }),
    tls: syslogTls,
    spool,
  },
  { deprecatedKeys: { maxMessage: 'maxMessageBytes' }, description: 'Settings of a `syslog` target.' },
)

const httpAuth = object(
  {
    username: Type.Optional(
      Type.String({ maxLength: 256, description: 'User name for basic authentication.' }),
    ),
    password: Type.Optional(
      Type.String({ secret: true, maxLength: 4096, description: 'Password for basic authentication.' }),
    ),
    token: Type.Optional(Type.String({ secret: true, maxLength: 4096, description: 'Bearer token.' })),
  },
  {
    description: 'Authentication with user name and password, or with a bearer token.',
    choice: { keys: ['username', 'token'], min: 1, max: 1 },
  },
)

const webhookSignature = object(
  {
    secret: Type.String({ secret: true, minLength: 1, maxLength: 4096, description: 'HMAC key.' }),
    header: text('reply-field-name', {
      default: 'x-sluice-signature',
      description: 'Header that contains the signature.',
    }),
  },
  {
    description:
      'Signs each request body. The header contains `sha256=` and the HMAC-SHA256 of the body in hexadecimal.',
  },
)

const httpTls = object(
  {
    caFile: Type.Optional(filePath("CA certificates to trust instead of the system's, PEM.")),
    insecure: Type.Boolean({ default: false, description: 'Accepts any certificate. For testing only.' }),
  },
  { default: {}, description: 'TLS settings for `https://` URLs.' },
)

const httpTimeout = duration('100ms', '10m', {
  default: '30s',
  description: 'Maximum time from the start of a request to the end of its response.',
})

/** Schema of the settings of a `webhook` target. */
export const webhook = object(
  {
    url: text('http-url', { description: 'URL that records are posted to.' }),
    headers: mapOf(Type.String({ grammar: 'field-value', secret: true, maxLength: 4096 }), {
      default: {},
      description: 'Header fields to add to each request.',
      propertyNames: text('reply-field-name'),
      maxProperties: 50,
    }),
    auth: Type.Optional(httpAuth),
    format: oneOf(['ndjson', 'array'], {
      default: 'ndjson',
      description: '`ndjson`: one record per line. `array`: a JSON array of records.',
    }),
    compress: Type.Boolean({ default: false, description: 'Compresses request bodies with gzip.' }),
    timeout: httpTimeout,
    signature: Type.Optional(webhookSignature),
    tls: httpTls,
    spool,
  },
  { description: 'Settings of a `webhook` target.' },
)

const RECORD_LABELS = ['route', 'api', 'group', 'env', 'status', 'result', 'pod', 'worker'] as const

/** Schema of the settings of a `loki` target. */
export const loki = object(
  {
    url: text('http-url', {
      description: 'URL of Loki. The path `/loki/api/v1/push` is added to a URL without a path.',
    }),
    tenant: Type.Optional(
      Type.String({
        grammar: 'field-value',
        keepsReference: true,
        minLength: 1,
        maxLength: 150,
        description: 'Tenant (`X-Scope-OrgID`). Absent: none.',
      }),
    ),
    labels: mapOf(Type.String({ minLength: 1, maxLength: 2048, keepsReference: true }), {
      default: { job: 'sluice', service_name: 'sluice' },
      description: 'Labels of all streams.',
      propertyNames: Type.String({
        pattern: '^[A-Za-z_][A-Za-z0-9_]{0,127}$',
        expects: 'a label name: letters, digits and underscores',
      }),
      maxProperties: 15,
    }),
    recordLabels: Type.Array(oneOf(RECORD_LABELS, {}), {
      default: ['pod', 'worker'],
      uniqueItems: true,
      maxItems: RECORD_LABELS.length,
      description:
        'Labels taken from the record. Each set of values is a stream. `status` is the class, such as `5xx`.',
    }),
    structuredMetadata: Type.Boolean({
      default: false,
      description: 'Adds the request id to each entry as structured metadata `request_id`.',
    }),
    auth: Type.Optional(httpAuth),
    compress: Type.Boolean({ default: false, description: 'Compresses request bodies with gzip.' }),
    timeout: httpTimeout,
    tls: httpTls,
    spool,
  },
  { description: 'Settings of a `loki` target.' },
)

const sasl = object(
  {
    mechanism: oneOf(['plain', 'scram-sha-256', 'scram-sha-512'], {
      default: 'scram-sha-512',
      description: 'SASL mechanism. `plain` sends the password, so use it with `tls` only.',
    }),
    username: Type.String({ minLength: 1, maxLength: 256, description: 'User name.' }),
    password: Type.String({ secret: true, minLength: 1, maxLength: 4096, description: 'Password.' }),
  },
  { description: 'SASL login. Absent: none.' },
)

/** Schema of the settings of a `kafka` target. */
export const kafka = object(
  {
    brokers: Type.Array(text('kafka-broker'), {
      minItems: 1,
      maxItems: 100,
      description:
        'Brokers to ask for the leaders of the topic. If one does not respond, the next one is used.',
    }),
    topic: Type.String({
      pattern: TOPIC,
      keepsReference: true,
      description:
        'Topic that records are written to. If it is missing, the cluster decides if it is created.',
      expects: 'the name of a topic: up to 249 letters, digits, dots, hyphens and underscores',
    }),
    key: oneOf(['request-id', 'route', 'client-ip', 'none'], {
      default: 'request-id',
      description: 'Key of the messages. Messages with the same key go to one partition.',
    }),
    acks: oneOf(['all', 'leader'], {
      default: 'all',
      description: 'Replicas that must confirm a record: all in-sync replicas, or only the leader.',
    }),
    compression: oneOf(['none', 'gzip', 'snappy', 'lz4'], {
      default: 'none',
      description: 'Compression of batches.',
    }),
    maxBatchBytes: size('1kb', '16mb', {
      default: '1mb',
      description:
        'Maximum size of a request before compression. Set it to the `max.message.bytes` of the topic.',
    }),
    clientId: Type.String({
      pattern: APP_NAME,
      keepsReference: true,
      default: 'sluice',
      description: 'Client id for quotas and logs of the brokers.',
      expects: 'a name of up to 48 printable characters without spaces',
    }),
    connectTimeout: duration('100ms', '1m', {
      default: '5s',
      description: 'Maximum time to open a connection.',
    }),
    timeout: duration('100ms', '10m', {
      default: '30s',
      description: 'Maximum time from the start of a request to the end of its response.',
    }),
    sasl: Type.Optional(sasl),
    tls: Type.Optional(
      object(clientTls, { description: 'TLS settings. Absent: connections are not encrypted.' }),
    ),
    spool,
  },
  { description: 'Settings of a `kafka` target.' },
)

/** Schema of the settings of an `otlp` target. */
export const otlp = object(
  { ...otlpKeys('/v1/logs'), spool },
  { description: 'Settings of an `otlp` target.' },
)

/** Schema of the settings of a `custom` target. */
export const custom = object(
  {
    module: Type.String({
      minLength: 1,
      maxLength: 4096,
      description:
        'Package name, looked up from the folder of the document, or path of a module that starts with ./ or /. The default export of the module opens the target.',
    }),
    options: mapOf(Type.Unsafe<unknown>({ secret: true }), {
      default: {},
      description: 'Options that are passed to the module unchanged.',
      propertyNames: Type.String({ minLength: 1, maxLength: 256 }),
      maxProperties: 1000,
    }),
    spool,
  },
  { description: 'Settings of a `custom` target.' },
)
