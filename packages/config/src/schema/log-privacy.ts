import { Type } from '@sinclair/typebox'
import { integer, name, object, oneOf, text } from './build.js'

/** Maximum number of names per rule. Every name costs time for every record. */
const MAX_NAMES = 200
const MAX_RULES = 100
const MAX_KEYS = 20
/** Maximum number of characters that a mask may leave visible. */
const MAX_SHOWN = 64

const key = object(
  {
    id: name('Key id, stored with every value that the key hashed or encrypted.'),
    secret: Type.String({
      secret: true,
      minLength: 16,
      maxLength: 4096,
      description: 'Secret, at least 16 characters. Use a reference such as ${env:LOG_KEY}.',
    }),
  },
  { description: 'A key for hashing and encryption.' },
)

const find = object(
  {
    names: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
        minItems: 1,
        maxItems: MAX_NAMES,
        description:
          'Names of header fields, parameters, JSON members, XML elements and variables, at any depth. Case-insensitive.',
      }),
    ),
    regex: Type.Optional(
      text('regex', {
        description:
          'Regular expression (RE2). If it has groups, only the text matched by the first group is replaced.',
      }),
    ),
    type: Type.Optional(
      oneOf(['card', 'iban', 'tckn', 'email', 'phone', 'jwt', 'private-key', 'aws-key'], {
        description:
          'Type of value, recognised by its format. Types with check digits only match if these are correct.',
      }),
    ),
  },
  { description: 'Values to find.', choice: { keys: ['names', 'regex', 'type'], min: 1, max: 1 } },
)

const rule = object(
  {
    id: name('Name of the rule. Records that it changed list it in `privacy.rules`.'),
    find,
    in: Type.Array(oneOf(['headers', 'query', 'body', 'vars'], { description: 'Part of the record.' }), {
      minItems: 1,
      maxItems: 4,
      default: ['headers', 'query', 'body', 'vars'],
      description: 'Parts of the record to search.',
    }),
    do: oneOf(['mask', 'delete', 'hash', 'encrypt', 'detect'], {
      default: 'mask',
      description: 'Action for the values found. `detect` only records that something was found.',
    }),
    keepFirst: Type.Optional(
      integer(1, MAX_SHOWN, { description: 'Number of leading characters that stay visible.' }),
    ),
    keepLast: Type.Optional(
      integer(1, MAX_SHOWN, { description: 'Number of trailing characters that stay visible.' }),
    ),
    maskFirst: Type.Optional(
      integer(1, MAX_SHOWN, {
        description: 'Number of leading characters that are masked. The rest stays visible.',
      }),
    ),
  },
  {
    description: 'A privacy rule.',
    choice: { keys: ['keepFirst', 'keepLast', 'maskFirst'], min: 0, max: 1 },
  },
)

/** Schema of the privacy rules of the traffic log. */
export const logPrivacySchema = object(
  {
    keys: Type.Array(key, {
      default: [],
      maxItems: MAX_KEYS,
      description:
        'Keys for hashing and encryption. The first one is used. Keep old keys in the list so that `gw logs decrypt` can use them.',
    }),
    rules: Type.Array(rule, {
      default: [],
      maxItems: MAX_RULES,
      description: 'Rules, in order. If several rules match a value by name, the first one applies.',
    }),
  },
  { description: 'Masks, deletes, hashes or encrypts values before a record is written.' },
)
