import { Type } from '@sinclair/typebox'
import { duration, filePath, mapOf, object, oneOf, size, text } from './build.js'
import { spool } from './log-spool.js'

/** Up to 32 printable characters but `=`, `]`, `"`, with the `@` and number that names of our own need (RFC 5424, 7.2.2). */
const STRUCTURED_DATA_ID = '^(?=.{3,32}$)[!#-<>-?A-\\[\\\\^-~]+@[0-9]+(\\.[0-9]+)*$'
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

/** Settings of the sink `stdout`. */
export const stdout = object({ spool }, { default: {}, description: 'The sink `stdout`.' })

const syslogTls = object(
  {
    caFile: Type.Optional(filePath("Authorities to trust instead of the system's, PEM.")),
    certFile: Type.Optional(filePath('The certificate to show to a receiver that asks for one, PEM.')),
    keyFile: Type.Optional(filePath('Its key, PEM.')),
    insecure: Type.Boolean({ default: false, description: 'Accepts any certificate. For trials only.' }),
  },
  { default: {}, description: 'How the receiver of a tls address is trusted.' },
)

/** Settings of the sink `syslog`. */
export const syslog = object(
  {
    address: text('syslog-url', {
      description: 'The receiver: udp://, tcp:// or tls://, a host and a port.',
    }),
    facility: oneOf(FACILITIES, { default: 'local0', description: 'The facility of every message.' }),
    appName: Type.String({
      pattern: APP_NAME,
      keepsReference: true,
      default: 'sluice',
      description: 'The APP-NAME of every message.',
      expects: 'a name of up to 48 printable characters without spaces',
    }),
    structuredDataId: Type.String({
      pattern: STRUCTURED_DATA_ID,
      keepsReference: true,
      default: 'traffic@32473',
      description:
        'The name of the structured data. The number is that of an enterprise; 32473 is kept free for examples.',
      expects: 'a name with the number of an enterprise, such as traffic@32473',
    }),
    maxMessage: size(
      { min: '480b', max: '1mb' },
      {
        default: '8kb',
        description: 'A longer message becomes a dead letter. Receivers have bounds of their own.',
      },
    ),
    tls: syslogTls,
    spool,
  },
  { description: 'The sink `syslog`.' },
)

const webhookAuth = object(
  {
    username: Type.Optional(
      Type.String({ maxLength: 256, description: 'The user, for basic authentication.' }),
    ),
    password: Type.Optional(Type.String({ secret: true, maxLength: 4096, description: 'The password.' })),
    token: Type.Optional(Type.String({ secret: true, maxLength: 4096, description: 'A bearer token.' })),
  },
  {
    description: 'A user and password, or a bearer token.',
    choice: { keys: ['username', 'token'], min: 1, max: 1 },
  },
)

const webhookSignature = object(
  {
    secret: Type.String({ secret: true, minLength: 1, maxLength: 4096, description: 'The key.' }),
    header: text('reply-field-name', {
      default: 'x-sluice-signature',
      description: 'The header that gets it.',
    }),
  },
  { description: 'Signs every body as it is sent: `sha256=` and its HMAC in hexadecimal.' },
)

const webhookTls = object(
  {
    caFile: Type.Optional(filePath("Authorities to trust instead of the system's, PEM.")),
    insecure: Type.Boolean({ default: false, description: 'Accepts any certificate. For trials only.' }),
  },
  { default: {}, description: 'How the certificate of an https URL is checked.' },
)

/** Settings of the sink `webhook`. */
export const webhook = object(
  {
    url: text('http-url', { description: 'Where records are posted.' }),
    headers: mapOf(Type.String({ grammar: 'field-value', secret: true, maxLength: 4096 }), {
      default: {},
      description: 'Header fields of every request.',
      propertyNames: text('reply-field-name'),
      maxProperties: 50,
    }),
    auth: Type.Optional(webhookAuth),
    format: oneOf(['ndjson', 'array'], {
      default: 'ndjson',
      description: 'One record a line, or one JSON array.',
    }),
    compress: Type.Boolean({ default: false, description: 'Sends bodies with gzip.' }),
    timeout: duration(
      { min: '100ms', max: '10m' },
      {
        default: '30s',
        description: 'The longest time from the begin of a request to the end of its answer.',
      },
    ),
    signature: Type.Optional(webhookSignature),
    tls: webhookTls,
    spool,
  },
  { description: 'The sink `webhook`.' },
)

/** Settings of the sink `custom`. */
export const custom = object(
  {
    module: Type.String({
      minLength: 1,
      maxLength: 4096,
      description:
        'A package, looked up from the folder of the document, or the path of a module that begins with ./ or /; its default export opens the target.',
    }),
    options: mapOf(Type.Unsafe<unknown>({ secret: true }), {
      default: {},
      description: 'Handed to the module as they are.',
      propertyNames: Type.String({ minLength: 1, maxLength: 256 }),
      maxProperties: 1000,
    }),
    spool,
  },
  { description: 'The sink `custom`.' },
)
