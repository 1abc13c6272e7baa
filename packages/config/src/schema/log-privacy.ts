import { Type } from '@sinclair/typebox'
import { integer, name, object, oneOf, text } from './build.js'

/** Longer names and more of them say the same with more work for every record. */
const MAX_NAMES = 200
const MAX_RULES = 100
const MAX_KEYS = 20
/** A mask that shows more than this masks nothing. */
const MAX_SHOWN = 64

const key = object(
  {
    id: name('Stands beside every value that the key has hashed or encrypted.'),
    secret: Type.String({
      secret: true,
      minLength: 16,
      maxLength: 4096,
      description: 'At least 16 characters; write a reference such as ${env:LOG_KEY}.',
    }),
  },
  { description: 'A key that hashes and encrypts.' },
)

const find = object(
  {
    names: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
        minItems: 1,
        maxItems: MAX_NAMES,
        description:
          'Names of header fields, parameters, members, elements and variables, wherever they stand; case does not matter.',
      }),
    ),
    regex: Type.Optional(
      text('regex', {
        description:
          'What matches in the text (RE2); of an expression with groups, what the first group matches.',
      }),
    ),
    type: Type.Optional(
      oneOf(['card', 'iban', 'tckn', 'email', 'phone', 'jwt', 'private-key', 'aws-key'], {
        description: 'Values known by their form, those with check digits only when these are right.',
      }),
    ),
  },
  {
    description: 'What to look for.',
    choice: { keys: ['names', 'regex', 'type'], min: 1, max: 1 },
  },
)

const rule = object(
  {
    id: name('The name of the rule, in `privacy.rules` of the records it has changed.'),
    find,
    in: Type.Array(
      oneOf(['headers', 'query', 'body', 'vars'], {
        description: 'A part of a record.',
      }),
      {
        minItems: 1,
        maxItems: 4,
        default: ['headers', 'query', 'body', 'vars'],
        description: 'Where to look.',
      },
    ),
    do: oneOf(['mask', 'delete', 'hash', 'encrypt', 'detect'], {
      default: 'mask',
      description: 'What becomes of what was found; `detect` only notes it.',
    }),
    keepFirst: Type.Optional(
      integer(1, MAX_SHOWN, { description: 'The mask leaves so many characters at the beginning.' }),
    ),
    keepLast: Type.Optional(
      integer(1, MAX_SHOWN, { description: 'The mask leaves so many characters at the end.' }),
    ),
    maskFirst: Type.Optional(
      integer(1, MAX_SHOWN, { description: 'The mask hides so many characters at the beginning.' }),
    ),
  },
  {
    description: 'A rule.',
    choice: { keys: ['keepFirst', 'keepLast', 'maskFirst'], min: 0, max: 1 },
  },
)

/** What is kept out of the traffic log. */
export const logPrivacySchema = object(
  {
    keys: Type.Array(key, {
      default: [],
      maxItems: MAX_KEYS,
      description: 'The first one hashes and encrypts; keep older ones after it for `gw logs decrypt`.',
    }),
    rules: Type.Array(rule, {
      default: [],
      maxItems: MAX_RULES,
      description: 'In this order. The first rule that takes a value by its name decides about it.',
    }),
  },
  { description: 'What is masked, deleted, hashed or encrypted before a record is written.' },
)
