import { optionalList, optionalString, string } from '../../shared/options.js'

/** Default of every `ttl`. */
export const DEFAULT_TTL = '300s'
/** Default of `skew`. */
export const DEFAULT_SKEW = '60s'

/** Every object of the configuration. */
export const STRICT = { additionalProperties: false }

/** PEM, mostly through a reference to a file. */
export function pem(description: string, isSecret = false) {
  return string(`${description} PEM, such as \`\${file:name.pem}\`.`, {
    minLength: 1,
    maxLength: 65_536,
    ...(isSecret ? { secret: true } : {}),
  })
}

/** For whom a Security header is. */
export const actor = optionalString(
  'The actor (SOAP 1.1) or role (SOAP 1.2) of the Security header; empty for the header without one.',
  { maxLength: 1024 },
)

/** Of a consumer. */
export const groups = optionalList(
  string('A group name.', { minLength: 1 }),
  'Groups of the consumer, for conditions and later policies.',
)

/** Of a consumer. */
export const consumerId = string('The id of the consumer.', { minLength: 1, maxLength: 256 })

/** How a password is shown. */
export const PASSWORD_TYPES = ['digest', 'text'] as const
/** What of a message is signed. */
export const PARTS = ['body', 'timestamp', 'username-token'] as const
