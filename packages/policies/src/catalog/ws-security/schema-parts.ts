import { Type } from '@sinclair/typebox'

/** Default of every `ttl`. */
export const DEFAULT_TTL = '300s'
/** Default of `skew`. */
export const DEFAULT_SKEW = '60s'

/** Every object of the configuration. */
export const STRICT = { additionalProperties: false }

/** PEM, mostly through a reference to a file. */
export function pem(description: string, isSecret = false) {
  return Type.String({
    minLength: 1,
    maxLength: 65_536,
    ...(isSecret ? { secret: true } : {}),
    description: `${description} PEM, such as \`\${file:name.pem}\`.`,
  })
}

/** For whom a Security header is. */
export const actor = Type.Optional(
  Type.String({
    maxLength: 1024,
    description:
      'The actor (SOAP 1.1) or role (SOAP 1.2) of the Security header; empty for the header without one.',
  }),
)

/** Of a consumer. */
export const groups = Type.Optional(
  Type.Array(Type.String({ description: 'A group name.', minLength: 1 }), {
    description: 'Groups of the consumer, for conditions and later policies.',
  }),
)

/** Of a consumer. */
export const consumerId = Type.String({
  minLength: 1,
  maxLength: 256,
  description: 'The id of the consumer.',
})

/** How a password is shown. */
export const PASSWORD_TYPES = ['digest', 'text'] as const
/** What of a message is signed. */
export const PARTS = ['body', 'timestamp', 'username-token'] as const
